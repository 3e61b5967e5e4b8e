import { MAX_IN_ROW } from "../../calls/apart.ts";
import { APART } from "../../calls/call.ts";
import { HEAD, SHARED } from "../statements.ts";

/** The columns of a call, its evidence unless that stands apart, and its attempts. */
const CALL = `
  calls.*, (
    SELECT CASE WHEN bytes <= ${MAX_IN_ROW} THEN content ELSE '"${APART}"' END FROM evidence WHERE hash = calls.evidence_hash
  ) AS evidence, (
    SELECT json_group_array(
      json_object('txid', txid, 'raw', lower(hex(raw)), 'firstValid', first_valid, 'lastValid', last_valid, 'dead',
        json(iif(dead, 'true', 'false'))) ORDER BY place)
    FROM attempts WHERE attempts.key = calls.key
  ) AS attempts`;

/** Statements of this database alone. */
const OWN = {
  beginEvidence: `
    INSERT INTO ledger_evidence (id, kind, round, state, due, since, txn_id, block_hash)
    VALUES (:id, :kind, :round, 'waiting', :since, :since, :txnId, :blockHash) ON CONFLICT DO NOTHING`,
  find: `SELECT ${CALL} FROM names JOIN calls ON calls.key = names.key WHERE name = ?`,
  openBut: `
    SELECT ${HEAD} FROM calls WHERE open AND key NOT IN (SELECT value FROM json_each(?)) ORDER BY created_at LIMIT ?`,
  page: `SELECT ${CALL} FROM calls WHERE key > ? ORDER BY key LIMIT ?`,
  insertCall: `
    INSERT INTO calls
      (key, rail, payer, subject_hash, payload_sha256, created_at, amount, request, evidence_hash, state, version, open,
       progress)
    VALUES
      (:key, :rail, :payer, :subjectHash, :payloadSha256, :createdAt, :amount, :request, :evidenceHash, :state, :version,
       TRUE, :progress)`,
  insertEvidence: "INSERT INTO evidence (hash, bytes, content) VALUES (:hash, :bytes, :content) ON CONFLICT DO NOTHING",
  insertEvidenceItem: `
    INSERT INTO evidence_items (hash, place, bytes, content) VALUES (:hash, :place, :bytes, :content) ON CONFLICT DO NOTHING`,
  evidenceHash: "SELECT evidence_hash AS hash FROM calls WHERE key = ?",
  evidenceOf: "SELECT content FROM evidence WHERE hash = (SELECT evidence_hash FROM calls WHERE key = ?)",
  leaveEvidence: "UPDATE calls SET evidence_hash = NULL WHERE key = ?",
  dropEvidence:
    "DELETE FROM evidence WHERE hash = :hash AND NOT EXISTS (SELECT 1 FROM calls WHERE evidence_hash = :hash)",
  insertName: "INSERT INTO names (name, key) VALUES (?, ?)",
  updateCall: `
    UPDATE calls SET state = :state, version = :version, progress = :progress, open = :open
    WHERE key = :key AND version = :version - 1 AND open`,
  // One statement: each rewrites the whole row.
  deliverCall: `
    UPDATE calls SET state = :state, version = :version, progress = :progress, open = :open, bundle_id = :id,
      delivered = :delivered, body_bytes = :bodyBytes, answer_bytes = :bytes, parts = :parts, evidence_hash = NULL
    WHERE key = :key AND version = :version - 1 AND open`,
  hasDictionary: "SELECT 1 FROM dictionaries WHERE hash = ?",
  toPrune: `
    SELECT ${CALL} FROM calls WHERE NOT open AND NOT pruned AND created_at < ? ORDER BY created_at LIMIT ?`,
  prune: "UPDATE calls SET pruned = TRUE, request = ? WHERE key = ?",
  keepPart: `
    INSERT INTO bundle_parts (bundle_id, place, id, bytes, content) VALUES (:bundleId, :place, :id, :bytes, :content)
    ON CONFLICT DO NOTHING`,
  writeAttempt: `
    INSERT INTO attempts (txid, key, place, raw, first_valid, last_valid, dead)
    VALUES (:txid, :key, :place, :raw, :firstValid, :lastValid, :dead)
    ON CONFLICT (txid) DO UPDATE SET dead = excluded.dead WHERE dead <> excluded.dead`,
  exposure: `
    SELECT coalesce(sum(amount), 0) AS amount FROM calls
    WHERE rail = ? AND payer = ? AND state = 'settling'`,
  copiedUntil: "SELECT CAST(value AS INTEGER) AS until FROM meta WHERE name = 'copied_until'",
  forgetAllRefused: "DELETE FROM refused_payments",
  markCopied: `
    INSERT INTO meta (name, value) SELECT 'copied_until', coalesce(max(created_at), 0) FROM calls WHERE true
    ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
  endAnnouncement: "DELETE FROM key_announcement WHERE txid = ? RETURNING record",
} as const;

type StatementName = keyof typeof OWN | keyof typeof SHARED;

/** Every statement of the journal and of its reader. SQLite numbers its parameters `?1`. */
export const SQL = {
  ...OWN,
  ...Object.fromEntries(Object.entries(SHARED).map(([name, text]) => [name, text.replaceAll("$", "?")])),
} as Record<StatementName, string>;
