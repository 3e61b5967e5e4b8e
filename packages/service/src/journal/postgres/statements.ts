import { MAX_IN_ROW } from "../../calls/apart.ts";
import { APART } from "../../calls/call.ts";
import { HEAD, SHARED } from "../statements.ts";
import { ENDED, FREED } from "./listener.ts";

/** The attempts of a call. */
const ATTEMPTS = `(
    SELECT coalesce(json_agg(json_build_object('txid', txid, 'raw', encode(raw, 'hex'), 'firstValid', first_valid,
      'lastValid', last_valid, 'dead', dead) ORDER BY place), '[]')
    FROM attempts WHERE attempts.key = calls.key
  )`;

/** A call with its evidence and its attempts, of one snapshot. */
const CALL = `
  calls.key, rail, payer, subject_hash, payload_sha256, created_at, request, state, version, progress, bundle_id, answer_bytes,
  parts, delivered, (
    SELECT CASE WHEN bytes <= ${MAX_IN_ROW} THEN content::text ELSE '"${APART}"' END FROM evidence
    WHERE hash = calls.evidence_hash
  ) AS evidence,
  ${ATTEMPTS}::text AS attempts`;

/** What every transition of a call writes. */
const MOVE = `UPDATE calls SET version = $2, state = $3, open = $4, progress = $5`;
const MOVED = "WHERE key = $1 AND version = $2 - 1 AND open RETURNING key, created_at";
/** Drops the evidence of a call that has left it, with the last one that has it. */
const LEAVE = `left_behind AS (
      SELECT evidence_hash FROM calls WHERE key = $1
    ), dropped AS (
      DELETE FROM evidence USING left_behind, moved WHERE hash = left_behind.evidence_hash
        AND NOT EXISTS (SELECT FROM calls WHERE calls.evidence_hash = hash AND calls.key <> $1)
    )`;
const TELL = `SELECT pg_notify('${ENDED}', key)::text FROM moved`;

/** The row of `meta` that marks a copy (calls/copied.ts). A copy without calls has the mark too: it may lack every one. */
export const COPY_MARK = "SELECT 'copied_until', to_json(coalesce(max(created_at), 0)) FROM calls";

/** Every statement of the journal and of its reader; each connection prepares it once, under its name. */
export const SQL = {
  ...SHARED,
  // A leader that lives is left alone; nothing is written while it stays.
  collects: `
    WITH standing AS (
      SELECT owner = $1 AS own, EXISTS (SELECT FROM replicas WHERE id = owner AND until > now()) AS alive
      FROM evidence_collector
    ), taken AS (
      INSERT INTO evidence_collector (place, owner) SELECT 1, $1 WHERE NOT EXISTS (SELECT FROM standing WHERE alive)
      ON CONFLICT (place) DO UPDATE SET owner = excluded.owner
        WHERE NOT EXISTS (SELECT FROM replicas WHERE id = evidence_collector.owner AND until > now())
      RETURNING owner
    )
    SELECT EXISTS (SELECT FROM standing WHERE own AND alive) OR EXISTS (SELECT FROM taken) AS collects`,
  find: `SELECT ${CALL} FROM names JOIN calls ON calls.key = names.key WHERE name = $1`,
  evidenceOf: "SELECT content FROM evidence WHERE hash = (SELECT evidence_hash FROM calls WHERE key = $1)",
  page: `SELECT ${CALL} FROM calls WHERE key > $1 ORDER BY key LIMIT $2`,
  exposure: `
    SELECT coalesce(sum(amount), 0)::text AS amount FROM calls
    WHERE rail = $1 AND payer = $2 AND state = 'settling'`,
  toPrune: `
    SELECT ${CALL} FROM calls WHERE NOT open AND NOT pruned AND created_at < $1 ORDER BY created_at LIMIT $2`,
  prune: "UPDATE calls SET pruned = TRUE, request = $2 WHERE key = $1 AND NOT open AND NOT pruned",
  // Locks of the session that commits: they end with it, and so does its power to insert.
  expect: "SELECT pg_advisory_lock_shared(hashtextextended($1, 0))",
  unexpect: "SELECT pg_advisory_unlock_shared(hashtextextended($1, 0))",
  // Never waits, and gives the lock up at once. A session is not kept from it by locks of its own.
  expected: "SELECT NOT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS expected",
  // Returns no row when another call has a name. A name that another replica inserts meanwhile is a unique violation, and
  // evidence that another replica drops meanwhile a foreign key violation: the writer runs the statement again.
  insert: `
    WITH free AS (
      SELECT WHERE NOT EXISTS (SELECT FROM names WHERE name = ANY ($1))
    ), kept AS (
      INSERT INTO evidence (hash, bytes, content) SELECT $13, $14::integer, $15::json FROM free
      WHERE $13::text IS NOT NULL
      ON CONFLICT DO NOTHING
    ), kept_items AS (
      INSERT INTO evidence_items (hash, place, bytes, content)
      SELECT $13, item.place - 1, item.bytes, item.content
      FROM free, unnest($17::integer[], $18::text[]) WITH ORDINALITY AS item (bytes, content, place)
      ON CONFLICT DO NOTHING
    ), inserted AS (
      INSERT INTO calls
        (key, rail, payer, subject_hash, payload_sha256, created_at, amount, request, state, version, open, progress, owner,
         evidence_hash)
      SELECT $2, $3, $4, $5, $6, $7::bigint, $8::bigint, $9::bytea, $10, $16::integer, TRUE, $11, $12::uuid, $13 FROM free
      ON CONFLICT (key) DO NOTHING
      RETURNING key
    )
    INSERT INTO names (name, key) SELECT name, key FROM inserted, unnest($1::text[]) AS name RETURNING key`,
  // Each transition returns one row when the call was moved.
  move: `${MOVE} ${MOVED}`,
  // The attempt may be new, or dead now.
  moveAttempt: `
    WITH moved AS (
      ${MOVE} ${MOVED}
    ), attempt AS (
      INSERT INTO attempts (txid, key, place, raw, first_valid, last_valid, dead)
      SELECT $6, key, $7::integer, $8::bytea, $9::bigint, $10::bigint, $11::boolean FROM moved
      ON CONFLICT (txid) DO UPDATE SET dead = excluded.dead WHERE attempts.dead <> excluded.dead
    )
    SELECT key FROM moved`,
  // Of a call that ends without a bundle. A name that another call has is a unique violation; evidence that another call
  // starts to use meanwhile a foreign key violation.
  end: `
    WITH moved AS (
      ${MOVE}, evidence_hash = NULL ${MOVED}
    ), ${LEAVE}, named AS (
      INSERT INTO names (name, key) SELECT $6, key FROM moved WHERE $6::text IS NOT NULL
        AND NOT EXISTS (SELECT FROM names WHERE name = $6 AND key = $1)
    )
    ${TELL}`,
  deliver: `
    WITH moved AS (
      ${MOVE}, evidence_hash = NULL, bundle_id = $6, delivered = $7, body_bytes = $8, answer_bytes = $9, parts = $10
      ${MOVED}
    ), ${LEAVE}, ended AS (
      DELETE FROM attempts USING moved WHERE attempts.key = moved.key
    ), kept AS (
      INSERT INTO bundle_parts (bundle_id, place, id, bytes, content)
      SELECT $6, part.place - 1, part.id, part.bytes, part.content
      FROM moved, unnest($11::text[], $12::integer[], $13::bytea[]) WITH ORDINALITY AS part (id, bytes, content, place)
    ), begun AS (
      INSERT INTO ledger_evidence (kind, id, round, state, due, since, txn_id, block_hash)
      SELECT own.kind, own.id, own.round, 'waiting', moved.created_at, moved.created_at, own.txn_id, own.block_hash
      FROM moved, unnest($14::text[], $15::text[], $16::bigint[], $17::text[], $18::text[])
        AS own (kind, id, round, txn_id, block_hash)
      ON CONFLICT DO NOTHING
    )
    ${TELL}`,
  lease: `
    WITH free AS (
      SELECT key FROM calls
      WHERE open AND CASE WHEN owner = $1 THEN key <> ALL ($2)
        ELSE NOT EXISTS (SELECT FROM replicas WHERE id = owner AND until > now()) END
      ORDER BY created_at LIMIT $3
      FOR UPDATE SKIP LOCKED
    )
    UPDATE calls SET owner = $1 FROM free WHERE calls.key = free.key RETURNING ${HEAD}`,
  renew: `
    INSERT INTO replicas (id, until) VALUES ($1, now() + $2 * interval '1 ms')
    ON CONFLICT (id) DO UPDATE SET until = excluded.until`,
  // A replica without a row counts as dead; one that was suspended for so long returns with its next `renew`.
  forget: "DELETE FROM replicas WHERE until < now() - interval '1 day'",
  lost: "SELECT key FROM calls WHERE key = ANY ($2) AND NOT (open AND owner = $1)",
  release: `WITH gone AS (DELETE FROM replicas WHERE id = $1) SELECT pg_notify('${FREED}', '')`,
  copiedUntil: "SELECT value AS until FROM meta WHERE name = 'copied_until'",
  markCopied: `
    WITH forgotten AS (DELETE FROM refused_payments)
    INSERT INTO meta (name, value) ${COPY_MARK}
    ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
  // A server is known by its cluster and its timeline, of which each promotion and each recovery to a point in time begins
  // another; and by the database and the table, which are others once a dump was put back. No server is one that still recovers.
  status: `
    WITH present AS (
      SELECT CASE WHEN NOT pg_is_in_recovery() THEN
        (SELECT system_identifier FROM pg_control_system()) || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8)
          || (SELECT '/' || oid FROM pg_database WHERE datname = current_database()) || '/' || 'calls'::regclass::oid
        END AS server
    )
    SELECT server, (
      SELECT key FROM unnest($2::text[], $3::integer[]) AS confirmed (key, version)
      WHERE NOT EXISTS (
        SELECT FROM calls WHERE calls.key = confirmed.key AND calls.version >= confirmed.version
          AND (owner = $1 OR server = $4))
      LIMIT 1
    ) AS missing FROM present`,
  // Marks the journal as a copy when another server has it than before, or had it before it was noted. Returns a row then.
  noteServer: `
    WITH used AS (
      SELECT 1 FROM meta WHERE name = 'server' UNION ALL SELECT 1 FROM calls
    ), noted AS (
      INSERT INTO meta (name, value) VALUES ('server', $1)
      ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE meta.value::text <> excluded.value::text
      RETURNING name
    ), forgotten AS (
      DELETE FROM refused_payments WHERE EXISTS (SELECT FROM noted)
    )
    INSERT INTO meta (name, value)
    SELECT * FROM (${COPY_MARK}) AS mark WHERE EXISTS (SELECT FROM noted) AND EXISTS (SELECT FROM used)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value RETURNING name`,
  conclude: `
    WITH ended AS (
      DELETE FROM key_announcement WHERE txid = $1 RETURNING record
    ), noted AS (
      SELECT record FROM ended WHERE $2::boolean
    ), added AS (
      INSERT INTO keys (kid, entry)
      SELECT record -> 'entry' ->> 'kid', record -> 'entry' FROM noted WHERE record ->> 'kind' = 'key'
      ON CONFLICT DO NOTHING
    )
    INSERT INTO key_revocations (kid, revoked_round)
    SELECT record ->> 'kid', (record ->> 'revokedRound')::bigint FROM noted WHERE record ->> 'kind' = 'revocation'
    ON CONFLICT DO NOTHING`,
  size: "SELECT pg_database_size(current_database())::text AS size",
  others: "SELECT count(*)::integer AS others FROM replicas WHERE until > now() AND id <> $1",
} as const;
