import { BESIDE_ITEM } from "../subjects/batch-answer.ts";

/** Parts of a bundle that are read at once, at most. */
const PARTS_AT_ONCE = 128;

/*
 * What both databases are asked in the same words, with parameters as PostgreSQL numbers them. Each has its own tables, and
 * statements of its own where types, JSON or locks come in.
 */

export const SHARED = {
  // `state <> 'whole'`, which always holds: without it SQLite does not see that the partial indexes will do.
  dueRound: `
    SELECT round FROM ledger_evidence WHERE state = $1 AND state <> 'whole' AND due <= $2 ORDER BY due, round LIMIT 1`,
  waiting: `
    SELECT txn_id AS "txnId", bundle_id AS "bundleId", parts, bundle, packed, dictionary
    FROM ledger_evidence e JOIN calls USING (key)
    WHERE e.state = 'waiting' AND e.state <> 'whole' AND round = $1 LIMIT $2`,
  included: `
    SELECT txn_id AS "txnId", inclusion FROM ledger_evidence
    WHERE state = 'included' AND state <> 'whole' AND round = $1 LIMIT $2`,
  unfinishedRounds: `
    SELECT DISTINCT round FROM ledger_evidence
    WHERE state = $1 AND state <> 'whole' AND round BETWEEN $2 AND $3 ORDER BY round`,
  postpone: "UPDATE ledger_evidence SET due = $3 WHERE state = $1 AND state <> 'whole' AND round = $2",
  keepStateProof: `
    INSERT INTO state_proofs (sha256, first_round, last_round, message, checkpoint, content)
    VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING`,
  stateProofOf: `
    SELECT sha256, message, checkpoint FROM state_proofs WHERE last_round >= $1 AND first_round <= $1
    ORDER BY last_round LIMIT 1`,
  stateProof: "SELECT content FROM state_proofs WHERE sha256 = $1",
  ledgerEvidence: `
    SELECT bundle_id AS "bundleId", e.state, round, inclusion, siblings, sha256, message, checkpoint
    FROM calls JOIN ledger_evidence e USING (key) LEFT JOIN state_proofs ON sha256 = state_proof_sha256
    WHERE bundle_id = coalesce((SELECT bundle_id FROM bundle_parts WHERE id = $1), $1)`,
  // Of each state the lowest round: the oldest, without a look at all that wait.
  oldestUnfinished: `
    SELECT round, created_at AS since FROM (
      SELECT * FROM (
        SELECT round, key FROM ledger_evidence WHERE state = 'waiting' AND state <> 'whole' ORDER BY round LIMIT 1
      ) AS waiting UNION ALL SELECT * FROM (
        SELECT round, key FROM ledger_evidence WHERE state = 'included' AND state <> 'whole' ORDER BY round LIMIT 1
      ) AS included
    ) AS first JOIN calls USING (key) ORDER BY round LIMIT 1`,
  // `IN ('waiting', 'included')`, which always holds: as above.
  dueSourceRound: `
    SELECT round FROM source_evidence WHERE state = $1 AND state IN ('waiting', 'included') AND due <= $2
    ORDER BY round LIMIT 1`,
  unfinishedSources: `
    SELECT id, block_hash AS "blockHash", txn_id AS "txnId", created_at AS since, header
    FROM source_evidence s JOIN calls USING (key)
    WHERE s.state = $1 AND s.state IN ('waiting', 'included') AND round = $2 LIMIT $3`,
  postponeSources: `
    UPDATE source_evidence SET due = $3 WHERE state = $1 AND state IN ('waiting', 'included') AND round = $2`,
  source: `
    SELECT state, round, header, siblings, sha256, message, checkpoint
    FROM source_evidence LEFT JOIN state_proofs ON sha256 = state_proof_sha256 WHERE id = $1`,
  unpacked: "SELECT count(*) AS calls FROM calls WHERE NOT open AND rest = 0",
  prunable: `
    SELECT count(*) AS calls, coalesce(sum(length(packed)), 0) AS bytes FROM calls
    WHERE NOT open AND rest < 2 AND created_at < $1`,
  addDictionary: "INSERT INTO dictionaries (hash, kind, content) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
  dictionary: "SELECT hash, kind, content FROM dictionaries WHERE hash = $1",
  dictionaries: "SELECT hash, kind, content FROM dictionaries",
  stored: `
    SELECT bundle_id AS "bundleId", answer_bytes AS bytes, NULL AS place, parts FROM calls WHERE bundle_id = $1
    UNION ALL
    SELECT bundle_id, ${BESIDE_ITEM} + body_bytes + bytes, place, parts FROM bundle_parts JOIN calls USING (bundle_id)
    WHERE id = $1`,
  bodyOf: "SELECT bundle, packed, dictionary FROM calls WHERE bundle_id = $1",
  // Contents are read only of the parts that are returned.
  partsOf: `
    SELECT content FROM bundle_parts JOIN (
      SELECT place, sum(bytes) OVER (ORDER BY place) AS sum FROM bundle_parts
      WHERE bundle_id = $1 AND place >= $2 AND place < $2 + ${PARTS_AT_ONCE}
    ) AS next USING (place)
    WHERE bundle_id = $1 AND (sum <= $3 OR place = $2) ORDER BY place`,
  open: 'SELECT key, state, created_at AS "createdAt", bundle_id AS "bundleId" FROM calls WHERE open ORDER BY created_at',
  claim: "INSERT INTO meta (name, value) VALUES ('identity', $1) ON CONFLICT DO NOTHING",
  beginSecret: "INSERT INTO meta (name, value) VALUES ('secret', $1) ON CONFLICT DO NOTHING",
  secret: "SELECT value FROM meta WHERE name = 'secret'",
  identity: "SELECT value FROM meta WHERE name = 'identity'",
  rememberPayee: "INSERT INTO payees (rail, address) VALUES ($1, $2) ON CONFLICT DO NOTHING",
  payees: "SELECT rail, address FROM payees ORDER BY rail, address",
  appendKey: "INSERT INTO keys (kid, entry) VALUES ($1, $2) ON CONFLICT (kid) DO NOTHING",
  keys: "SELECT entry FROM keys ORDER BY place",
  appendRevocation: "INSERT INTO key_revocations (kid, revoked_round) VALUES ($1, $2) ON CONFLICT DO NOTHING",
  revocations: 'SELECT kid, revoked_round AS "revokedRound" FROM key_revocations ORDER BY place',
  announce: `
    INSERT INTO key_announcement (place, record, txid, raw, first_valid, last_valid) VALUES (1, $1, $2, $3, $4, $5)
    ON CONFLICT DO NOTHING`,
  announced: 'SELECT record, txid, raw, first_valid AS "firstValid", last_valid AS "lastValid" FROM key_announcement',
} as const;
