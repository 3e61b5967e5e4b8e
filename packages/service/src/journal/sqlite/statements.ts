/** The columns of a call, its evidence and its attempts. */
const CALL = `
  calls.*, (SELECT content FROM evidence WHERE hash = calls.evidence_hash) AS evidence, (
    SELECT json_group_array(
      json_object('txid', txid, 'raw', hex(raw), 'firstValid', first_valid, 'lastValid', last_valid, 'dead',
        json(iif(dead, 'true', 'false'))) ORDER BY place)
    FROM attempts WHERE attempts.key = calls.key
  ) AS attempts`;

/** Every statement of the journal and of its reader. */
export const SQL = {
  find: `SELECT ${CALL} FROM names JOIN calls ON calls.key = names.key WHERE name = ?`,
  openBut: `
    SELECT ${CALL} FROM calls WHERE open AND key NOT IN (SELECT value FROM json_each(?)) ORDER BY created_at LIMIT ?`,
  page: `SELECT ${CALL} FROM calls WHERE key > ? ORDER BY key LIMIT ?`,
  insertCall: `
    INSERT INTO calls
      (key, rail, payer, subject_hash, created_at, request, evidence_hash, state, version, open, progress)
    VALUES
      (:key, :rail, :payer, :subjectHash, :createdAt, :request, :evidenceHash, :state, :version, TRUE, :progress)`,
  insertEvidence: "INSERT INTO evidence (hash, content) VALUES (:hash, :content) ON CONFLICT DO NOTHING",
  evidenceOf: "SELECT evidence_hash AS hash FROM calls WHERE key = ?",
  leaveEvidence: "UPDATE calls SET evidence_hash = NULL WHERE key = ?",
  dropEvidence:
    "DELETE FROM evidence WHERE hash = :hash AND NOT EXISTS (SELECT 1 FROM calls WHERE evidence_hash = :hash)",
  insertName: "INSERT INTO names (name, key) VALUES (?, ?)",
  updateCall: `
    UPDATE calls SET state = :state, version = :version, progress = :progress
    WHERE key = :key AND version = :version - 1`,
  endCall: "UPDATE calls SET open = :open, bundle_id = :bundleId, bundle = :bundle WHERE key = :key",
  writeAttempt: `
    INSERT INTO attempts (txid, key, place, raw, first_valid, last_valid, dead)
    VALUES (:txid, :key, :place, :raw, :firstValid, :lastValid, :dead)
    ON CONFLICT (txid) DO UPDATE SET dead = excluded.dead WHERE dead <> excluded.dead`,
  exposure: `
    SELECT coalesce(sum(CAST(request ->> '$.requirement.amount' AS INTEGER)), 0) AS amount FROM calls
    WHERE rail = ? AND payer = ? AND state IN ('prepared', 'settling')`,
  bundle: "SELECT bundle FROM calls WHERE bundle_id = ?",
  claim: "INSERT INTO meta (name, value) VALUES ('identity', ?) ON CONFLICT DO NOTHING",
  beginSecret: "INSERT INTO meta (name, value) VALUES ('secret', ?) ON CONFLICT DO NOTHING",
  secret: "SELECT value FROM meta WHERE name = 'secret'",
  identity: "SELECT value FROM meta WHERE name = 'identity'",
  rememberPayee: "INSERT INTO payees (rail, address) VALUES (?, ?) ON CONFLICT DO NOTHING",
  payees: "SELECT rail, address FROM payees ORDER BY rail, address",
  appendKey: "INSERT INTO keys (kid, entry) VALUES (?, ?) ON CONFLICT (kid) DO NOTHING",
  keys: "SELECT entry FROM keys ORDER BY place",
  appendRevocation: "INSERT INTO key_revocations (kid, revoked_round) VALUES (?, ?) ON CONFLICT DO NOTHING",
  revocations: "SELECT kid, revoked_round AS revokedRound FROM key_revocations ORDER BY place",
  announce: `
    INSERT INTO key_announcement (place, record, txid, raw, first_valid, last_valid) VALUES (1, ?, ?, ?, ?, ?)
    ON CONFLICT DO NOTHING`,
  announced: "SELECT record, txid, raw, first_valid AS firstValid, last_valid AS lastValid FROM key_announcement",
  endAnnouncement: "DELETE FROM key_announcement WHERE txid = ? RETURNING record",
} as const;
