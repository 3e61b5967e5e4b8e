import { DatabaseSync } from "node:sqlite";
import { REFUSED, type SchemaState, schemaState, UNRELEASED } from "../reader.ts";

/** Marks a file as a journal of ours ("ATSD"). Journals from before the first release have 0. */
const APPLICATION_ID = 0x41545344;

/**
 * The schema, a member for each version. A member that was released is never changed: what comes later is a new one, which
 * changes the tables of the one before.
 *
 * Small columns stand before large ones: SQLite reads the pages of a long row only as far as the columns that are selected.
 */
export const VERSIONS: readonly string[] = [
  `
  CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
  -- What is attested, by the SHA-256 of its JSON: it may be large, and many calls may be of one subject.
  CREATE TABLE evidence (hash TEXT PRIMARY KEY, bytes INTEGER NOT NULL, content TEXT NOT NULL) STRICT;
  -- The items of a large batch, each as JSON.
  CREATE TABLE evidence_items (
    hash TEXT NOT NULL REFERENCES evidence ON DELETE CASCADE, place INTEGER NOT NULL, bytes INTEGER NOT NULL,
    content TEXT NOT NULL, PRIMARY KEY (hash, place)
  ) STRICT;
  -- What packed texts have in common, by its SHA-256. Never deleted: without it they cannot be read.
  CREATE TABLE dictionaries (hash BLOB PRIMARY KEY, content BLOB NOT NULL) STRICT;
  -- What is packed is the SHA-256 of its dictionary, and a zstd frame (journal/packing.ts).
  CREATE TABLE calls (
    key TEXT PRIMARY KEY,
    state TEXT NOT NULL, version INTEGER NOT NULL,
    open INTEGER NOT NULL,                 -- whether something is still to be done
    pruned INTEGER NOT NULL DEFAULT FALSE,
    rail TEXT NOT NULL, payer TEXT NOT NULL, subject_hash TEXT NOT NULL, payload_sha256 TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    amount INTEGER NOT NULL,               -- of the payment, in atomic units of its asset
    bundle_id TEXT UNIQUE,
    answer_bytes INTEGER, body_bytes INTEGER, parts INTEGER,   -- of what is delivered, and of the bundle; 0 parts where it is whole
    evidence_hash TEXT REFERENCES evidence,
    progress TEXT NOT NULL,                -- JSON of what has no column or table of its own
    request BLOB NOT NULL,                 -- packed JSON of what is fixed when the call begins, but for the evidence
    delivered BLOB                         -- packed: the receipt, and the bundle, of a batch its head, unless it stands apart
  ) STRICT;
  CREATE INDEX calls_open ON calls (created_at) WHERE open;
  CREATE INDEX calls_of_evidence ON calls (evidence_hash) WHERE evidence_hash IS NOT NULL;
  CREATE INDEX calls_to_prune ON calls (created_at) WHERE NOT open AND NOT pruned;
  -- What a payer has promised and not paid yet is summed for every purchase, from this alone.
  CREATE INDEX calls_unpaid ON calls (rail, payer, amount) WHERE state = 'settling';
  -- Every key and alias: one table, so that no alias is ever another call's key.
  CREATE TABLE names (name TEXT PRIMARY KEY, key TEXT NOT NULL REFERENCES calls) STRICT, WITHOUT ROWID;
  -- Of calls that are not delivered.
  CREATE TABLE attempts (
    txid TEXT PRIMARY KEY,
    key TEXT NOT NULL REFERENCES calls, place INTEGER NOT NULL,
    first_valid INTEGER NOT NULL, last_valid INTEGER NOT NULL, dead INTEGER NOT NULL, raw BLOB NOT NULL,
    UNIQUE (key, place)                    -- a second transaction in one place would be a second attestation
  ) STRICT;
  -- What stands apart of delivered bundles (calls/apart.ts), packed: pieces of a large one, the items of a batch by their ids. The
  -- bytes are those of the text.
  CREATE TABLE bundle_parts (
    bundle_id TEXT NOT NULL REFERENCES calls (bundle_id), place INTEGER NOT NULL, id TEXT UNIQUE,
    bytes INTEGER NOT NULL, content BLOB NOT NULL,
    PRIMARY KEY (bundle_id, place)
  ) STRICT;

  -- Payments that a facilitator refused and may settle (calls/refused.ts).
  CREATE TABLE refused_payments (
    place INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, payer TEXT NOT NULL, subject_hash TEXT NOT NULL
  ) STRICT;
  CREATE INDEX refused_of_payer ON refused_payments (payer, place);

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

  -- Each once, by the SHA-256 of its msgpack, however many attestations rest on it.
  CREATE TABLE state_proofs (
    sha256 TEXT PRIMARY KEY, first_round INTEGER NOT NULL, last_round INTEGER NOT NULL,
    message TEXT NOT NULL, checkpoint TEXT NOT NULL, content BLOB NOT NULL
  ) STRICT;
  CREATE INDEX state_proofs_by_round ON state_proofs (last_round);
  -- A block in which records or sources of delivered bundles stand, with what is the same for all of them
  -- (ledger/evidence/journal.ts). The header in base64.
  CREATE TABLE ledger_blocks (
    round INTEGER PRIMARY KEY, state TEXT NOT NULL, due INTEGER NOT NULL, header TEXT NOT NULL,
    siblings TEXT, state_proof_sha256 TEXT REFERENCES state_proofs   -- once it is whole
  ) STRICT;
  CREATE INDEX ledger_blocks_open ON ledger_blocks (round) WHERE state = 'open';
  -- What shows that a delivered bundle's attestation, or its source, stands in a block of the ledger's own network. The id is of the
  -- bundle; of a batch that of its head for its record, and of each item for its source.
  CREATE TABLE ledger_evidence (
    id TEXT NOT NULL, kind TEXT NOT NULL, round INTEGER NOT NULL, block INTEGER REFERENCES ledger_blocks,
    state TEXT NOT NULL, due INTEGER NOT NULL, since INTEGER NOT NULL,
    txn_id TEXT, block_hash TEXT, inclusion TEXT,                       -- what is looked for, and how it stands there, JSON
    PRIMARY KEY (id, kind)
  ) STRICT;
  CREATE INDEX ledger_evidence_due ON ledger_evidence (kind, due, round) WHERE state = 'waiting';
  CREATE INDEX ledger_evidence_waiting ON ledger_evidence (kind, round, id) WHERE state = 'waiting';
  CREATE INDEX ledger_evidence_of_block ON ledger_evidence (block);
  `,
];

/** The version of the schema that this release writes. */
export const SCHEMA_VERSION = VERSIONS.length;

/** The version of a file's schema; 0 of a new file. */
export function versionOf(db: DatabaseSync): number {
  const version = (db.prepare("PRAGMA user_version").get() as { user_version: number }).user_version;
  const application = (db.prepare("PRAGMA application_id").get() as { application_id: number }).application_id;
  return version > 0 && application !== APPLICATION_ID ? UNRELEASED : version;
}

/** @param versions a test's own */
export function stateOf(db: DatabaseSync, versions = VERSIONS): SchemaState {
  const version = versionOf(db);
  const state = schemaState(version, versions.length);
  const isKnown = state === "current" || state === "older";
  return isKnown && !hasSchema(db, versions.slice(0, version)) ? "unreleased" : state;
}

/**
 * Whether a file has the tables and indexes that these versions of the schema make, and no others, nor triggers or views. Before
 * the first release a version may have had several forms.
 */
export function hasSchema(db: DatabaseSync, versions: readonly string[]): boolean {
  using made = new DatabaseSync(":memory:");
  for (const version of versions) made.exec(version);
  return schemaTextOf(made).join("\n") === schemaTextOf(db).join("\n");
}

/**
 * Brings the schema up to date, in one transaction; `user_version` is its version.
 *
 * @param versions a test's own
 * @throws Error when the file is of a later release, or from before the first; nothing is changed then
 */
export function migrate(db: DatabaseSync, versions = VERSIONS): void {
  db.exec("BEGIN IMMEDIATE");
  try {
    const refusal = REFUSED[stateOf(db, versions)];
    if (refusal !== undefined) throw new Error(refusal);
    for (const next of versions.slice(versionOf(db))) db.exec(next);
    db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${versions.length}; COMMIT`);
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
