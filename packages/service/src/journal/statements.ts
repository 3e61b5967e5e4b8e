import { MAX_REFUSED, MAX_REFUSED_OF_PAYER } from "../calls/refused.ts";
import { ITEM_OVERHEAD } from "../subjects/batch-answer.ts";

/** Parts of a bundle that are read at once, at most. */
const PARTS_AT_ONCE = 128;

/** The columns of a head. */
export const HEAD = `calls.key, state, version, created_at AS "createdAt", subject_hash AS "subjectHash",
  payload_sha256 AS "payloadSha256"`;

/*
 * What both databases are asked in the same words, with parameters as PostgreSQL numbers them. Each has its own tables, and
 * statements of its own where types, JSON or locks come in.
 */

export const SHARED = {
  dueEvidence: `
    SELECT round FROM ledger_evidence WHERE kind = $1 AND state = 'waiting' AND due <= $2 ORDER BY due, round LIMIT 1`,
  dueBlock: "SELECT round FROM ledger_blocks WHERE state = 'open' AND due <= $1 ORDER BY round LIMIT 1",
  unfinishedRounds: `
    SELECT round FROM ledger_evidence WHERE kind = 'record' AND state = 'waiting' UNION
    SELECT b.round FROM ledger_blocks b JOIN ledger_evidence ON block = b.round AND kind = 'record'
    WHERE b.state = 'open' ORDER BY round`,
  postponeEvidence: `
    UPDATE ledger_evidence SET due = $3, state = CASE WHEN kind = 'source' AND since < $4 THEN 'absent' ELSE state END
    WHERE kind = $1 AND state = 'waiting' AND round = $2 RETURNING state`,
  // A block of sources alone is given up with them.
  postponeBlock: `
    UPDATE ledger_blocks SET due = $2, state = CASE WHEN EXISTS (
      SELECT 1 FROM ledger_evidence e WHERE block = ledger_blocks.round AND (kind = 'record' OR since >= $3)
    ) THEN state ELSE 'impossible' END
    WHERE round = $1 AND state = 'open' RETURNING state`,
  waiting: `
    SELECT id, txn_id AS "txnId", block_hash AS "blockHash" FROM ledger_evidence
    WHERE kind = $1 AND state = 'waiting' AND round = $2 AND id > $3 ORDER BY id LIMIT $4`,
  // Returns no row where another header is kept. A block that was given up is tried again for what came later.
  keepBlock: `
    INSERT INTO ledger_blocks (round, state, due, header) VALUES ($1, 'open', $2, $3)
    ON CONFLICT (round) DO UPDATE SET
      state = CASE ledger_blocks.state WHEN 'impossible' THEN 'open' ELSE ledger_blocks.state END,
      due = CASE ledger_blocks.state WHEN 'impossible' THEN excluded.due ELSE ledger_blocks.due END
    WHERE ledger_blocks.header = excluded.header RETURNING round`,
  // Materialized: SQLite would read the whole JSON anew for each row.
  include: `
    WITH shown AS MATERIALIZED (SELECT key, value FROM json_each($4))
    UPDATE ledger_evidence SET state = 'included', block = round, inclusion = NULLIF(CAST(value AS text), 'null')
    FROM shown
    WHERE kind = $1 AND ledger_evidence.id = key AND state = 'waiting' AND round = $2
      AND EXISTS (SELECT 1 FROM ledger_blocks b WHERE b.round = $2 AND header = $3)`,
  openBlock: "SELECT header FROM ledger_blocks WHERE round = $1 AND state = 'open'",
  proveBlock: `
    UPDATE ledger_blocks SET state = 'whole', siblings = $2, state_proof_sha256 = $3
    WHERE round = $1 AND state <> 'whole'`,
  leaveBlock: "UPDATE ledger_blocks SET state = 'impossible' WHERE round = $1 AND state = 'open'",
  exclude: `
    UPDATE ledger_evidence SET state = 'waiting', block = NULL, inclusion = NULL
    WHERE block = $1 AND EXISTS (SELECT 1 FROM ledger_blocks b WHERE b.round = $1 AND b.state = 'open')`,
  dropBlock: "DELETE FROM ledger_blocks WHERE round = $1 AND state = 'open'",
  keepStateProof: `
    INSERT INTO state_proofs (sha256, first_round, last_round, message, checkpoint, content)
    VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING`,
  stateProofOf: `
    SELECT sha256, message, checkpoint FROM state_proofs WHERE last_round >= $1 AND first_round <= $1
    ORDER BY last_round LIMIT 1`,
  stateProof: "SELECT content FROM state_proofs WHERE sha256 = $1",
  // The record of a batch's item is that of its head.
  evidenceOfBundle: `
    SELECT e.id, e.state, e.round, inclusion, b.state AS block, header, siblings, sha256, message, checkpoint
    FROM ledger_evidence e LEFT JOIN ledger_blocks b ON b.round = e.block
      LEFT JOIN state_proofs ON sha256 = state_proof_sha256
    WHERE kind = $1 AND e.id = coalesce((SELECT bundle_id FROM bundle_parts WHERE $1 = 'record' AND id = $2), $2)`,
  oldestUnfinished: `
    SELECT round, since FROM (
      SELECT * FROM (
        SELECT round, since FROM ledger_evidence WHERE kind = 'record' AND state = 'waiting' ORDER BY round LIMIT 1
      ) AS waiting UNION ALL SELECT * FROM (
        SELECT b.round, since FROM ledger_blocks b JOIN ledger_evidence ON block = b.round AND kind = 'record'
        WHERE b.state = 'open' ORDER BY b.round LIMIT 1
      ) AS included
    ) AS first ORDER BY round LIMIT 1`,
  prunable: `
    SELECT count(*) AS calls, coalesce(sum(length(request) + coalesce(length(delivered), 0)), 0) AS bytes FROM calls
    WHERE NOT open AND NOT pruned AND created_at < $1`,
  addDictionary: "INSERT INTO dictionaries (hash, content) VALUES ($1, $2) ON CONFLICT DO NOTHING",
  dictionary: "SELECT content FROM dictionaries WHERE hash = $1",
  stored: `
    SELECT bundle_id AS "bundleId", answer_bytes AS bytes, NULL AS place, parts FROM calls WHERE bundle_id = $1
    UNION ALL
    SELECT bundle_id, ${ITEM_OVERHEAD} + body_bytes + bytes, place, parts FROM bundle_parts JOIN calls USING (bundle_id)
    WHERE id = $1`,
  bodyOf: "SELECT delivered FROM calls WHERE bundle_id = $1",
  // Contents are read only of the parts that are returned.
  partsOf: `
    SELECT content FROM bundle_parts JOIN (
      SELECT place, sum(bytes) OVER (ORDER BY place) AS sum FROM bundle_parts
      WHERE bundle_id = $1 AND place >= $2 AND place < $2 + ${PARTS_AT_ONCE}
    ) AS next USING (place)
    WHERE bundle_id = $1 AND (sum <= $3 OR place = $2) ORDER BY place`,
  evidenceItemsOf: `
    WITH own AS (SELECT evidence_hash AS hash FROM calls WHERE key = $1)
    SELECT content FROM evidence_items JOIN (
      SELECT place, sum(bytes) OVER (ORDER BY place) AS sum FROM evidence_items
      WHERE hash = (SELECT hash FROM own) AND place >= $2 AND place < $2 + ${PARTS_AT_ONCE}
    ) AS next USING (place)
    WHERE hash = (SELECT hash FROM own) AND (sum <= $3 OR place = $2) ORDER BY place`,
  head: `SELECT ${HEAD} FROM names JOIN calls ON calls.key = names.key WHERE name = $1`,
  open: 'SELECT key, state, created_at AS "createdAt", bundle_id AS "bundleId" FROM calls WHERE open ORDER BY created_at',
  rememberRefused: `
    INSERT INTO refused_payments (key, payer, subject_hash) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING RETURNING key`,
  forgetRefused: `
    DELETE FROM refused_payments
    WHERE place <= (SELECT place FROM refused_payments ORDER BY place DESC LIMIT 1 OFFSET ${MAX_REFUSED})
      OR place <= (
        SELECT place FROM refused_payments WHERE payer = $1 ORDER BY place DESC LIMIT 1 OFFSET ${MAX_REFUSED_OF_PAYER}
      ) AND payer = $1`,
  refused: 'SELECT key, payer, subject_hash AS "subjectHash" FROM refused_payments WHERE key = $1',
  claim: "INSERT INTO meta (name, value) VALUES ('identity', $1) ON CONFLICT DO NOTHING",
  beginSecret: "INSERT INTO meta (name, value) VALUES ('secret', $1) ON CONFLICT DO NOTHING",
  secret: "SELECT value FROM meta WHERE name = 'secret'",
  identity: "SELECT value FROM meta WHERE name = 'identity'",
  rememberPayee: "INSERT INTO payees (rail, address) VALUES ($1, $2) ON CONFLICT DO NOTHING",
  payees: "SELECT rail, address FROM payees ORDER BY rail, address",
  appendKey: "INSERT INTO keys (kid, entry) VALUES ($1, $2) ON CONFLICT (kid) DO NOTHING",
  keys: "SELECT entry FROM keys ORDER BY place",
  newestKey: "SELECT entry FROM keys ORDER BY place DESC LIMIT 1",
  forgetBytes: "UPDATE attempts SET raw = '' WHERE key = $1",
  dropAttempts: "DELETE FROM attempts WHERE key = $1",
  appendRevocation: "INSERT INTO key_revocations (kid, revoked_round) VALUES ($1, $2) ON CONFLICT DO NOTHING",
  revocations: 'SELECT kid, revoked_round AS "revokedRound" FROM key_revocations ORDER BY place',
  announce: `
    INSERT INTO key_announcement (place, record, txid, raw, first_valid, last_valid) VALUES (1, $1, $2, $3, $4, $5)
    ON CONFLICT DO NOTHING`,
  announced: 'SELECT record, txid, raw, first_valid AS "firstValid", last_valid AS "lastValid" FROM key_announcement',
} as const;
