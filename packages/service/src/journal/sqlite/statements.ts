/** The columns of a call, its evidence and its attempts. */
const CALL = `
  calls.*, (SELECT content FROM evidence WHERE hash = calls.evidence_hash) AS evidence, (
    SELECT json_group_array(
      json_object('txid', txid, 'raw', lower(hex(raw)), 'firstValid', first_valid, 'lastValid', last_valid, 'dead',
        json(iif(dead, 'true', 'false'))) ORDER BY place)
    FROM attempts WHERE attempts.key = calls.key
  ) AS attempts`;

/** Statements of the evidence of delivered attestations. */
const EVIDENCE = {
  beginLedgerEvidence: `
    INSERT INTO ledger_evidence (txn_id, key, round, state, due) VALUES (:txnId, :key, :round, 'waiting', :due)
    ON CONFLICT DO NOTHING`,
  // `state <> 'whole'`, which always holds: without it SQLite does not see that the partial indexes will do.
  dueRound: `
    SELECT round FROM ledger_evidence WHERE state = ? AND state <> 'whole' AND due <= ? ORDER BY due, round LIMIT 1`,
  waiting: `
    SELECT txn_id AS txnId, bundle, packed, dictionary FROM ledger_evidence JOIN calls USING (key)
    WHERE ledger_evidence.state = 'waiting' AND ledger_evidence.state <> 'whole' AND round = ? LIMIT ?`,
  included: `
    SELECT txn_id AS txnId, inclusion FROM ledger_evidence
    WHERE state = 'included' AND state <> 'whole' AND round = ? LIMIT ?`,
  unfinishedRounds: `
    SELECT DISTINCT round FROM ledger_evidence WHERE state = ? AND state <> 'whole' AND round BETWEEN ? AND ?
    ORDER BY round`,
  stepEvidence: `
    UPDATE ledger_evidence SET state = :to,
      inclusion = CASE :to WHEN 'waiting' THEN NULL WHEN 'included' THEN :part ELSE inclusion END,
      siblings = coalesce(:siblings, siblings), state_proof_sha256 = coalesce(:stateProofSha256, state_proof_sha256)
    WHERE txn_id = :id AND CASE :to WHEN 'included' THEN state = 'waiting' WHEN 'impossible' THEN state = 'included'
      ELSE state IN ('included', 'impossible') END`,
  postponeEvidence: "UPDATE ledger_evidence SET due = ? WHERE state = ? AND state <> 'whole' AND round = ?",
  keepStateProof: `
    INSERT INTO state_proofs (sha256, first_round, last_round, message, checkpoint, content)
    VALUES (:sha256, :first, :last, :message, :checkpoint, :content) ON CONFLICT DO NOTHING`,
  stateProofOf: `
    SELECT sha256, message, checkpoint FROM state_proofs WHERE last_round >= :round AND first_round <= :round
    ORDER BY last_round LIMIT 1`,
  stateProof: "SELECT content FROM state_proofs WHERE sha256 = ?",
  ledgerEvidence: `
    SELECT bundle_id AS bundleId, ledger_evidence.state, round, inclusion, siblings, sha256, message, checkpoint
    FROM calls JOIN ledger_evidence USING (key) LEFT JOIN state_proofs ON sha256 = state_proof_sha256
    WHERE bundle_id = :id OR calls.key = (SELECT key FROM batch_items WHERE id = :id)`,
  // Of each state the lowest round: the oldest, without a look at all that wait.
  oldestUnfinished: `
    SELECT round, created_at AS since FROM (
      SELECT * FROM (
        SELECT round, key FROM ledger_evidence WHERE state = 'waiting' AND state <> 'whole' ORDER BY round LIMIT 1
      ) UNION ALL SELECT * FROM (
        SELECT round, key FROM ledger_evidence WHERE state = 'included' AND state <> 'whole' ORDER BY round LIMIT 1
      )
    ) JOIN calls USING (key) ORDER BY round LIMIT 1`,
  // `IN ('waiting', 'included')`, which always holds: as above.
  dueSourceRound: `
    SELECT round FROM source_evidence WHERE state = ? AND state IN ('waiting', 'included') AND due <= ?
    ORDER BY round LIMIT 1`,
  unfinishedSources: `
    SELECT id, block_hash AS blockHash, txn_id AS txnId, created_at AS since, header
    FROM source_evidence s JOIN calls USING (key)
    WHERE s.state = ? AND s.state IN ('waiting', 'included') AND round = ? LIMIT ?`,
  beginSource: `
    INSERT INTO source_evidence (id, key, round, block_hash, txn_id, state, due)
    SELECT :id, key, :round, :blockHash, :txnId, 'waiting', created_at FROM calls WHERE key = :key ON CONFLICT DO NOTHING`,
  stepSource: `
    UPDATE source_evidence SET state = :to, siblings = :siblings, state_proof_sha256 = :stateProofSha256,
      header = CASE :to WHEN 'waiting' THEN NULL WHEN 'included' THEN :part ELSE header END
    WHERE id = :id AND CASE :to WHEN 'included' THEN state = 'waiting' WHEN 'whole' THEN state = 'included'
      ELSE state IN ('waiting', 'included') END`,
  postponeSources: `
    UPDATE source_evidence SET due = ? WHERE state = ? AND state IN ('waiting', 'included') AND round = ?`,
  source: `
    SELECT state, round, header, siblings, sha256, message, checkpoint
    FROM source_evidence LEFT JOIN state_proofs ON sha256 = state_proof_sha256 WHERE id = ?`,
} as const;

/** Every statement of the journal and of its reader. */
export const SQL = {
  ...EVIDENCE,
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
    WHERE key = :key AND version = :version - 1 AND packed IS NULL`,
  toPack: `SELECT ${CALL} FROM calls WHERE NOT open AND rest = 0 ORDER BY created_at LIMIT ?`,
  pack: `
    UPDATE calls SET rest = :rest, packed = :packed, dictionary = :dictionary,
      payer = '', subject_hash = '', request = '{}', progress = '{}', bundle = NULL
    WHERE key = :key AND rest < :rest AND NOT open`,
  unpacked: "SELECT count(*) AS calls FROM calls WHERE NOT open AND rest = 0",
  prunable: `
    SELECT count(*) AS calls, coalesce(sum(length(packed)), 0) AS bytes FROM calls
    WHERE NOT open AND rest < 2 AND created_at < ?`,
  toPrune: `SELECT ${CALL} FROM calls WHERE NOT open AND rest < 2 AND created_at < ? ORDER BY created_at LIMIT ?`,
  dropAttempts: "DELETE FROM attempts WHERE key = ?",
  insertDictionary:
    "INSERT INTO dictionaries (hash, kind, content) VALUES (:hash, :kind, :content) ON CONFLICT DO NOTHING",
  dictionary: "SELECT hash, kind, content FROM dictionaries WHERE hash = ?",
  dictionaries: "SELECT hash, kind, content FROM dictionaries",
  endCall: "UPDATE calls SET open = :open, bundle_id = :bundleId, bundle = :bundle WHERE key = :key",
  writeAttempt: `
    INSERT INTO attempts (txid, key, place, raw, first_valid, last_valid, dead)
    VALUES (:txid, :key, :place, :raw, :firstValid, :lastValid, :dead)
    ON CONFLICT (txid) DO UPDATE SET dead = excluded.dead WHERE dead <> excluded.dead`,
  exposure: `
    SELECT coalesce(sum(CAST(request ->> '$.requirement.amount' AS INTEGER)), 0) AS amount FROM calls
    WHERE rail = ? AND payer = ? AND state IN ('prepared', 'settling')`,
  bundle: "SELECT bundle, packed, dictionary FROM calls WHERE bundle_id = ?",
  batchItem: `
    SELECT start, length, bundle, packed, dictionary FROM batch_items JOIN calls ON calls.key = batch_items.key WHERE id = ?`,
  writeBatchItem: `
    INSERT INTO batch_items (id, key, start, length) VALUES (:id, :key, :start, :length) ON CONFLICT DO NOTHING`,
  claim: "INSERT INTO meta (name, value) VALUES ('identity', ?) ON CONFLICT DO NOTHING",
  beginSecret: "INSERT INTO meta (name, value) VALUES ('secret', ?) ON CONFLICT DO NOTHING",
  secret: "SELECT value FROM meta WHERE name = 'secret'",
  identity: "SELECT value FROM meta WHERE name = 'identity'",
  copiedUntil: "SELECT CAST(value AS INTEGER) AS until FROM meta WHERE name = 'copied_until'",
  markCopied: `
    INSERT INTO meta (name, value) SELECT 'copied_until', max(created_at) FROM calls HAVING count(*) > 0
    ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
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
