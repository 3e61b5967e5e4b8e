import { hash } from "node:crypto";
import type { ClientBase } from "pg";
import { REFUSED, type SchemaState, schemaState, UNRELEASED } from "../reader.ts";

/** A key, in the order of its bytes: the order of a locale changes with the server's system, and every index with it. */
const ID = 'text COLLATE "C"';

/**
 * The schema, a member for each version. A member that was released is never changed: what comes later is a new one, which
 * may change anything: no replica of an earlier release has the database open meanwhile, or afterwards (`holdSchema`).
 */
export const VERSIONS: readonly string[] = [
  `
  CREATE TABLE meta (name ${ID} PRIMARY KEY, value json NOT NULL);
  -- What is attested, by the SHA-256 of its JSON: it may be large, and many calls may be of one subject.
  CREATE TABLE evidence (hash ${ID} PRIMARY KEY, bytes integer NOT NULL, content json NOT NULL);
  -- The items of a large batch, each as JSON.
  CREATE TABLE evidence_items (
    hash ${ID} NOT NULL REFERENCES evidence ON DELETE CASCADE, place integer NOT NULL, bytes integer NOT NULL,
    content text NOT NULL, PRIMARY KEY (hash, place)
  );
  -- What packed texts have in common, by its SHA-256. Never deleted: without it they cannot be read.
  CREATE TABLE dictionaries (hash bytea PRIMARY KEY, content bytea NOT NULL);
  -- What is packed is the SHA-256 of its dictionary, and a zstd frame (journal/packing.ts).
  CREATE TABLE calls (
    key ${ID} PRIMARY KEY,
    state text NOT NULL, version integer NOT NULL,
    open boolean NOT NULL,                 -- whether something is still to be done
    pruned boolean NOT NULL DEFAULT FALSE,
    owner uuid,                            -- the replica that leased the call last
    rail text NOT NULL, payer text NOT NULL, subject_hash text NOT NULL, payload_sha256 text NOT NULL,
    created_at bigint NOT NULL,
    amount bigint NOT NULL,                -- of the payment, in atomic units of its asset
    bundle_id ${ID} UNIQUE,
    answer_bytes integer, body_bytes integer, parts integer,   -- of what is delivered, and of the bundle; 0 parts where it is whole
    evidence_hash ${ID} REFERENCES evidence,
    progress text NOT NULL,                -- JSON of what has no column or table of its own
    request bytea NOT NULL,                -- packed JSON of what is fixed when the call begins, but for the evidence
    delivered bytea                        -- packed: the receipt, and the bundle, of a batch its head, unless it stands apart
  );
  ALTER TABLE calls ALTER COLUMN request SET STORAGE EXTERNAL, ALTER COLUMN delivered SET STORAGE EXTERNAL;
  CREATE INDEX calls_open ON calls (created_at) WHERE open;
  CREATE INDEX calls_of_evidence ON calls (evidence_hash) WHERE evidence_hash IS NOT NULL;
  CREATE INDEX calls_to_prune ON calls (created_at) WHERE NOT open AND NOT pruned;
  -- What a payer has promised and not paid yet is summed for every purchase.
  CREATE INDEX calls_unpaid ON calls (rail, payer, amount) WHERE state = 'settling';
  -- Every key and alias: one table, so that no alias is ever another call's key.
  CREATE TABLE names (name ${ID} PRIMARY KEY, key ${ID} NOT NULL REFERENCES calls);
  -- Of calls that are not delivered.
  CREATE TABLE attempts (
    txid ${ID} PRIMARY KEY,
    key ${ID} NOT NULL REFERENCES calls, place integer NOT NULL,
    first_valid bigint NOT NULL, last_valid bigint NOT NULL, dead boolean NOT NULL, raw bytea NOT NULL,
    UNIQUE (key, place)                    -- a second transaction in one place would be a second attestation
  );
  -- What stands apart of delivered bundles (calls/apart.ts), packed: pieces of a large one, the items of a batch by their ids. The
  -- bytes are those of the text.
  CREATE TABLE bundle_parts (
    bundle_id ${ID} NOT NULL REFERENCES calls (bundle_id), place integer NOT NULL, id ${ID} UNIQUE,
    bytes integer NOT NULL, content bytea NOT NULL,
    PRIMARY KEY (bundle_id, place)
  );
  ALTER TABLE bundle_parts ALTER COLUMN content SET STORAGE EXTERNAL;
  -- A replica lives until then, and with it every lease that it holds: a heartbeat is one row, however many the calls.
  CREATE TABLE replicas (id uuid PRIMARY KEY, until timestamptz NOT NULL);
  -- The replica that collects evidence, one at a time.
  CREATE TABLE evidence_collector (place integer PRIMARY KEY CHECK (place = 1), owner uuid NOT NULL);

  -- Payments that a facilitator refused and may settle (calls/refused.ts).
  CREATE TABLE refused_payments (
    place bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, key ${ID} NOT NULL UNIQUE, payer text NOT NULL, subject_hash text NOT NULL
  );
  CREATE INDEX refused_of_payer ON refused_payments (payer, place);

  CREATE TABLE payees (rail text NOT NULL, address text NOT NULL, PRIMARY KEY (rail, address));
  CREATE TABLE keys (
    place integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, kid ${ID} NOT NULL UNIQUE, entry json NOT NULL
  );
  CREATE TABLE key_revocations (
    place integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kid ${ID} NOT NULL UNIQUE REFERENCES keys (kid), revoked_round bigint NOT NULL
  );
  -- A key record whose note is on its way to the ledger; one at most.
  CREATE TABLE key_announcement (
    place integer PRIMARY KEY CHECK (place = 1),
    record json NOT NULL, txid ${ID} NOT NULL, raw bytea NOT NULL, first_valid bigint NOT NULL, last_valid bigint NOT NULL
  );

  -- Each once, by the SHA-256 of its msgpack, however many attestations rest on it.
  CREATE TABLE state_proofs (
    sha256 ${ID} PRIMARY KEY, first_round bigint NOT NULL, last_round bigint NOT NULL,
    message text NOT NULL, checkpoint text NOT NULL, content bytea NOT NULL
  );
  CREATE INDEX state_proofs_by_round ON state_proofs (last_round);
  -- A block in which records or sources of delivered bundles stand, with what is the same for all of them
  -- (ledger/evidence/journal.ts). The header in base64.
  CREATE TABLE ledger_blocks (
    round bigint PRIMARY KEY, state text NOT NULL, due bigint NOT NULL, header text NOT NULL,
    siblings text, state_proof_sha256 ${ID} REFERENCES state_proofs   -- once it is whole
  );
  CREATE INDEX ledger_blocks_open ON ledger_blocks (round) WHERE state = 'open';
  -- What shows that a delivered bundle's attestation, or its source, stands in a block of the ledger's own network. The id is of the
  -- bundle; of a batch that of its head for its record, and of each item for its source.
  CREATE TABLE ledger_evidence (
    id ${ID} NOT NULL, kind text NOT NULL, round bigint NOT NULL, block bigint REFERENCES ledger_blocks,
    state text NOT NULL, due bigint NOT NULL, since bigint NOT NULL,
    txn_id text, block_hash text, inclusion text,                       -- what is looked for, and how it stands there, JSON
    PRIMARY KEY (id, kind)
  );
  CREATE INDEX ledger_evidence_due ON ledger_evidence (kind, due, round) WHERE state = 'waiting';
  CREATE INDEX ledger_evidence_waiting ON ledger_evidence (kind, round, id) WHERE state = 'waiting';
  CREATE INDEX ledger_evidence_of_block ON ledger_evidence (block);
  `,
];

/** The SHA-256 of a version's statements, without comments. Before the first release a version may have had several forms. */
function formOf(version: string): string {
  return hash("sha256", version.replace(/--.*$/gm, "").replace(/\s+/g, " "));
}

/**
 * The version of a database's schema; 0 where there is none.
 *
 * @param versions a test's own
 */
export async function versionOf(client: ClientBase, versions = VERSIONS): Promise<number> {
  const { rows: tables } = await client.query<{ found: boolean; unreleased: boolean }>(
    "SELECT to_regclass('schema_versions') IS NOT NULL AS found, to_regclass('migrations') IS NOT NULL AS unreleased",
  );
  // Only tables from before the first release counted themselves in one of this name.
  if (tables[0]?.unreleased) return UNRELEASED;
  if (!tables[0]?.found) return 0;
  // The first journals of this version had no such column.
  const { rows } = await client.query<{ version: number; form: string | null }>(
    "SELECT version, to_jsonb(applied) ->> 'form' AS form FROM schema_versions AS applied ORDER BY version",
  );
  for (const [index, known] of versions.entries()) {
    const applied = rows[index];
    if (applied && applied.form !== formOf(known)) return UNRELEASED;
  }
  return rows.at(-1)?.version ?? 0;
}

export async function stateOf(client: ClientBase): Promise<SchemaState> {
  return schemaState(await versionOf(client), VERSIONS.length);
}

/** Held shared by every session of a replica, and alone by a migration. */
const SCHEMA_LOCK = "hashtext('attestd schema')";
/** The error of a lock that was not got in time, and for how long one is waited for, in ms. */
const LOCK_NOT_AVAILABLE = "55P03";
const PATIENCE_MS = 2_000;

/**
 * Keeps the schema as this release knows it while the session lasts: no migration runs meanwhile. So a replica whose sessions
 * all broke, and which a later release has replaced, cannot write or read one row more.
 *
 * @throws Error when the schema is not this release's
 */
export async function holdSchema(client: ClientBase): Promise<void> {
  await client.query(`SELECT pg_advisory_lock_shared(${SCHEMA_LOCK})`);
  const state = await stateOf(client);
  const refusal = REFUSED[state];
  if (refusal !== undefined) throw new Error(refusal);
  if (state !== "current") throw new Error("the journal was replaced by an earlier one: start the service again");
}

/**
 * Brings the schema up to date, in one transaction. Of replicas that start at once one does it, and the others wait.
 *
 * @param versions a test's own
 * @throws Error when the database is of a later release, or from before the first, or when replicas of an earlier release
 *   have it open; nothing is changed then
 */
export async function migrate(client: ClientBase, versions = VERSIONS): Promise<void> {
  await client.query("BEGIN");
  try {
    await applyVersions(client, versions);
    await client.query("COMMIT");
  } catch (error) {
    await client.query("ROLLBACK").catch(() => undefined);
    throw error;
  }
}

/** As `migrate`, inside the caller's transaction. */
export async function applyVersions(client: ClientBase, versions = VERSIONS): Promise<void> {
  await client.query("SET LOCAL statement_timeout = 0");
  await client.query("SELECT pg_advisory_xact_lock(hashtext('attestd migrations'))");
  const version = await versionOf(client, versions);
  const refusal = REFUSED[schemaState(version, versions.length)];
  if (refusal !== undefined) throw new Error(refusal);
  await client.query(
    "CREATE TABLE IF NOT EXISTS schema_versions (version integer PRIMARY KEY, form text, applied_at timestamptz NOT NULL DEFAULT now())",
  );
  if (version > 0 && version < versions.length) await waitForReplicas(client);
  for (const [i, next] of versions.slice(version).entries()) {
    await client.query(next);
    await client.query("INSERT INTO schema_versions (version, form) VALUES ($1, $2)", [version + i + 1, formOf(next)]);
  }
}

/** Until the transaction ends, no replica can open the database. @throws Error when one has it open, and keeps it */
async function waitForReplicas(client: ClientBase): Promise<void> {
  await client.query(`SET LOCAL lock_timeout = ${PATIENCE_MS}`);
  await client.query(`SELECT pg_advisory_xact_lock(${SCHEMA_LOCK})`).catch((error: { code?: string }) => {
    if (error.code !== LOCK_NOT_AVAILABLE) throw error;
    throw new Error("replicas of an earlier release have this journal open: stop them all, then start this release");
  });
  await client.query("SET LOCAL lock_timeout = 0");
}
