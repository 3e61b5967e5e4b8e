import type { DatabaseSync } from "node:sqlite";
import { type SchemaState, schemaState, WRITTEN_LATER } from "../reader.ts";

/**
 * Each is applied once and in order, and never changed once it was released: what comes later is a new one. To each belongs
 * a journal in test/journals, which every later release is tested to upgrade.
 */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
  -- What is attested, by the SHA-256 of its JSON: it may be large, and many calls may be of one subject.
  CREATE TABLE evidence (hash TEXT PRIMARY KEY, content TEXT NOT NULL) STRICT;
  CREATE TABLE calls (
    key TEXT PRIMARY KEY,
    rail TEXT NOT NULL, payer TEXT NOT NULL, subject_hash TEXT NOT NULL, created_at INTEGER NOT NULL,
    request TEXT NOT NULL,                 -- JSON of what is fixed when the call is prepared, but for the evidence
    evidence_hash TEXT REFERENCES evidence,
    state TEXT NOT NULL, version INTEGER NOT NULL,
    open INTEGER NOT NULL,                 -- whether something is still to be done
    progress TEXT NOT NULL,                -- JSON of the rest, but for attempts and bundle
    bundle_id TEXT UNIQUE, bundle TEXT
  ) STRICT;
  CREATE INDEX calls_open ON calls (created_at) WHERE open;
  CREATE INDEX calls_of_evidence ON calls (evidence_hash) WHERE evidence_hash IS NOT NULL;
  -- What a payer has promised and not paid yet is summed for every purchase: from this alone, without the rows, of which
  -- those that are delivered stay open until their payments are final.
  CREATE INDEX calls_unpaid ON calls (rail, payer, state, CAST(request ->> '$.requirement.amount' AS INTEGER))
    WHERE state IN ('prepared', 'settling');
  -- Every key and alias: one table, so that no alias is ever another call's key.
  CREATE TABLE names (name TEXT PRIMARY KEY, key TEXT NOT NULL REFERENCES calls) STRICT, WITHOUT ROWID;
  CREATE TABLE attempts (
    txid TEXT PRIMARY KEY,
    key TEXT NOT NULL REFERENCES calls, place INTEGER NOT NULL,
    raw BLOB NOT NULL, first_valid INTEGER NOT NULL, last_valid INTEGER NOT NULL, dead INTEGER NOT NULL,
    UNIQUE (key, place)                    -- a second transaction in one place would be a second attestation
  ) STRICT;
  CREATE TABLE payees (rail TEXT NOT NULL, address TEXT NOT NULL, PRIMARY KEY (rail, address)) STRICT;
  CREATE TABLE keys (place INTEGER PRIMARY KEY, kid TEXT NOT NULL UNIQUE, entry TEXT NOT NULL) STRICT;
  CREATE TABLE key_revocations (
    place INTEGER PRIMARY KEY, kid TEXT NOT NULL UNIQUE REFERENCES keys (kid), revoked_round INTEGER NOT NULL
  ) STRICT;
  -- A key record whose note is on its way to the ledger; one at most.
  CREATE TABLE key_announcement (
    place INTEGER PRIMARY KEY CHECK (place = 1),
    record TEXT NOT NULL, txid TEXT NOT NULL, raw BLOB NOT NULL, first_valid INTEGER NOT NULL, last_valid INTEGER NOT NULL
  ) STRICT;
  `,
  `
  -- Each once, by the SHA-256 of its msgpack, however many attestations rest on it.
  CREATE TABLE state_proofs (
    sha256 TEXT PRIMARY KEY, first_round INTEGER NOT NULL, last_round INTEGER NOT NULL,
    message TEXT NOT NULL, checkpoint TEXT NOT NULL, content BLOB NOT NULL
  ) STRICT;
  CREATE INDEX state_proofs_by_round ON state_proofs (last_round);
  -- What shows that the ledger recorded a delivered attestation, by its transaction (ledger/evidence/journal.ts).
  CREATE TABLE ledger_evidence (
    txn_id TEXT PRIMARY KEY, key TEXT NOT NULL UNIQUE REFERENCES calls, round INTEGER NOT NULL,
    state TEXT NOT NULL, due INTEGER NOT NULL,
    inclusion TEXT, state_proof TEXT,      -- JSON of the items, the second without the state proof itself
    state_proof_sha256 TEXT REFERENCES state_proofs
  ) STRICT;
  CREATE INDEX ledger_evidence_due ON ledger_evidence (state, due, round) WHERE state <> 'whole';
  CREATE INDEX ledger_evidence_unfinished ON ledger_evidence (state, round) WHERE state <> 'whole';
  CREATE INDEX ledger_evidence_by_state_proof ON ledger_evidence (state_proof_sha256)
    WHERE state_proof_sha256 IS NOT NULL;
  INSERT INTO ledger_evidence (txn_id, key, round, state, due)
    SELECT txid, calls.key, progress ->> '$.round', 'waiting', created_at FROM calls JOIN attempts USING (key)
    WHERE bundle_id IS NOT NULL AND NOT dead;
  -- What packed calls of a kind have in common, by its SHA-256. Never deleted: without it they cannot be read.
  CREATE TABLE dictionaries (hash BLOB PRIMARY KEY, kind TEXT NOT NULL, content BLOB NOT NULL) STRICT;
  -- Of a call at rest: 0 while its row is as it was written, 1 once the packer has seen it.
  ALTER TABLE calls ADD COLUMN rest INTEGER NOT NULL DEFAULT 0;
  -- In place of payer, subject_hash, request, evidence, progress, bundle and attempts (packing.ts).
  ALTER TABLE calls ADD COLUMN packed BLOB;
  ALTER TABLE calls ADD COLUMN dictionary BLOB REFERENCES dictionaries;
  CREATE INDEX calls_to_pack ON calls (created_at) WHERE NOT open AND rest = 0;
  -- The items of delivered batches by their ids: where each stands in its call's bundle, in bytes from 0.
  CREATE TABLE batch_items (
    id TEXT PRIMARY KEY, key TEXT NOT NULL REFERENCES calls, start INTEGER NOT NULL, length INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- From here on \`rest\` is 2 of a call that is pruned (calls/pruning.ts), and no call at rest stays unpacked.
  UPDATE calls SET rest = 0 WHERE rest = 1 AND packed IS NULL;
  CREATE INDEX calls_to_prune ON calls (created_at) WHERE NOT open AND rest < 2;
  `,
  `
  -- What shows that the source of a delivered bundle, by the id of the bundle or of a batch's item, stands in a block of the
  -- ledger's own network (ledger/evidence/source-journal.ts).
  CREATE TABLE source_evidence (
    id TEXT PRIMARY KEY, key TEXT NOT NULL REFERENCES calls,
    round INTEGER NOT NULL, block_hash TEXT NOT NULL, txn_id TEXT,
    state TEXT NOT NULL, due INTEGER NOT NULL,
    header TEXT, siblings TEXT,            -- JSON
    state_proof_sha256 TEXT REFERENCES state_proofs
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX source_evidence_unfinished ON source_evidence (state, round) WHERE state IN ('waiting', 'included');
  `,
  `
  -- With rowids: rows of 1 to 2 KB of a table without them take pages of their own.
  CREATE TABLE rows_of_source_evidence (
    id TEXT PRIMARY KEY, key TEXT NOT NULL REFERENCES calls,
    round INTEGER NOT NULL, block_hash TEXT NOT NULL, txn_id TEXT,
    state TEXT NOT NULL, due INTEGER NOT NULL,
    header TEXT, siblings TEXT,            -- JSON
    state_proof_sha256 TEXT REFERENCES state_proofs
  ) STRICT;
  INSERT INTO rows_of_source_evidence SELECT * FROM source_evidence;
  DROP TABLE source_evidence;
  ALTER TABLE rows_of_source_evidence RENAME TO source_evidence;
  CREATE INDEX source_evidence_unfinished ON source_evidence (state, round) WHERE state IN ('waiting', 'included');
  -- Message and checkpoint stand once, with the state proof.
  ALTER TABLE ledger_evidence RENAME COLUMN state_proof TO siblings;
  UPDATE ledger_evidence SET siblings = siblings -> '$.siblings' WHERE siblings IS NOT NULL;
  `,
];

/** How many migrations this release knows. */
export const MIGRATIONS_KNOWN = MIGRATIONS.length;

/** How many migrations a file has had. */
export function versionOf(db: DatabaseSync): number {
  return (db.prepare("PRAGMA user_version").get() as { user_version: number }).user_version;
}

/** How far a file's schema has come. */
export function stateOf(db: DatabaseSync): SchemaState {
  return schemaState(versionOf(db), MIGRATIONS_KNOWN);
}

/**
 * Brings the schema up to date, in one transaction; `user_version` counts the migrations that a file has had.
 *
 * @param migrations a test's own
 * @throws Error when a later release has migrated the file further; nothing is changed then
 */
export function migrate(db: DatabaseSync, migrations = MIGRATIONS): void {
  db.exec("BEGIN IMMEDIATE");
  try {
    const done = versionOf(db);
    if (done > migrations.length) throw new Error(WRITTEN_LATER);
    for (const migration of migrations.slice(done)) db.exec(migration);
    db.exec(`PRAGMA user_version = ${migrations.length}; COMMIT`);
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}

/** Every table and index of a file, in SQLite's own text. */
export function schemaTextOf(db: DatabaseSync): string[] {
  return db
    .prepare("SELECT type || ' ' || name || coalesce(': ' || sql, '') AS text FROM sqlite_schema ORDER BY type, name")
    .all()
    .map(({ text }) => text as string);
}
