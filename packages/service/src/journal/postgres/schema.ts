import type { ClientBase } from "pg";
import { type SchemaState, schemaState, WRITTEN_LATER } from "../reader.ts";

/**
 * Each is applied once and in order, and never changed once it was released: what comes later is a new one. To each belongs
 * a journal in test/journals, which every later release is tested to upgrade. A migration may change anything: no replica of
 * an earlier release has the database open while it runs, or afterwards (`holdSchema`).
 */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE meta (name text PRIMARY KEY, value json NOT NULL);
  -- What is attested, by the SHA-256 of its JSON: it may be large, and many calls may be of one subject.
  CREATE TABLE evidence (hash text PRIMARY KEY, content json NOT NULL);
  CREATE TABLE calls (
    key text PRIMARY KEY,
    rail text NOT NULL, payer text NOT NULL, subject_hash text NOT NULL, created_at bigint NOT NULL,
    request json NOT NULL,                 -- what is fixed when the call is prepared, but for the evidence
    evidence_hash text REFERENCES evidence,
    state text NOT NULL, version integer NOT NULL,
    open boolean NOT NULL,                 -- whether something is still to be done
    progress json NOT NULL,                -- the rest, but for attempts and bundle
    bundle_id text UNIQUE, bundle text,
    owner uuid                             -- the replica that leased the call last
  );
  CREATE INDEX calls_open ON calls (created_at) WHERE open;
  CREATE INDEX calls_of_evidence ON calls (evidence_hash) WHERE evidence_hash IS NOT NULL;
  -- For what a payer has promised and not paid yet.
  CREATE INDEX calls_unpaid ON calls (rail, payer) WHERE state IN ('prepared', 'settling');
  -- Every key and alias: one table, so that no alias is ever another call's key.
  CREATE TABLE names (name text PRIMARY KEY, key text NOT NULL REFERENCES calls);
  CREATE TABLE attempts (
    txid text PRIMARY KEY,
    key text NOT NULL REFERENCES calls, place integer NOT NULL,
    raw bytea NOT NULL, first_valid bigint NOT NULL, last_valid bigint NOT NULL, dead boolean NOT NULL,
    UNIQUE (key, place)                    -- a second transaction in one place would be a second attestation
  );
  CREATE TABLE payees (rail text NOT NULL, address text NOT NULL, PRIMARY KEY (rail, address));
  CREATE TABLE keys (
    place integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, kid text NOT NULL UNIQUE, entry json NOT NULL
  );
  -- A replica lives until then, and with it every lease that it holds: a heartbeat is one row, however many the calls.
  CREATE TABLE replicas (id uuid PRIMARY KEY, until timestamptz NOT NULL);
  CREATE TABLE key_revocations (
    place integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kid text NOT NULL UNIQUE REFERENCES keys (kid), revoked_round bigint NOT NULL
  );
  -- A key record whose note is on its way to the ledger; one at most.
  CREATE TABLE key_announcement (
    place integer PRIMARY KEY CHECK (place = 1),
    record json NOT NULL, txid text NOT NULL, raw bytea NOT NULL, first_valid bigint NOT NULL, last_valid bigint NOT NULL
  );
  `,
  `
  -- Each once, by the SHA-256 of its msgpack, however many attestations rest on it.
  CREATE TABLE state_proofs (
    sha256 text PRIMARY KEY, first_round bigint NOT NULL, last_round bigint NOT NULL,
    message json NOT NULL, checkpoint json NOT NULL, content bytea NOT NULL
  );
  CREATE INDEX state_proofs_by_round ON state_proofs (last_round);
  -- What shows that the ledger recorded a delivered attestation, by its transaction (ledger/evidence/journal.ts).
  CREATE TABLE ledger_evidence (
    txn_id text PRIMARY KEY, key text NOT NULL UNIQUE REFERENCES calls, round bigint NOT NULL,
    state text NOT NULL, due bigint NOT NULL,
    inclusion json, state_proof json,      -- the items, the second without the state proof itself
    state_proof_sha256 text REFERENCES state_proofs
  );
  CREATE INDEX ledger_evidence_due ON ledger_evidence (state, due, round) WHERE state <> 'whole';
  CREATE INDEX ledger_evidence_unfinished ON ledger_evidence (state, round) WHERE state <> 'whole';
  CREATE INDEX ledger_evidence_by_state_proof ON ledger_evidence (state_proof_sha256)
    WHERE state_proof_sha256 IS NOT NULL;
  INSERT INTO ledger_evidence (txn_id, key, round, state, due)
    SELECT txid, calls.key, (progress ->> 'round')::bigint, 'waiting', created_at FROM calls JOIN attempts USING (key)
    WHERE bundle_id IS NOT NULL AND NOT dead;
  -- The replica that collects evidence, one at a time.
  CREATE TABLE evidence_collector (place integer PRIMARY KEY CHECK (place = 1), owner uuid NOT NULL);
  -- What packed calls of a kind have in common, by its SHA-256. Never deleted: without it they cannot be read.
  CREATE TABLE dictionaries (hash bytea PRIMARY KEY, kind text NOT NULL, content bytea NOT NULL);
  ALTER TABLE calls
    -- Of a call at rest: 0 while its row is as it was written, 1 once the packer has seen it.
    ADD COLUMN rest smallint NOT NULL DEFAULT 0,
    -- In place of payer, subject_hash, request, evidence, progress, bundle and attempts (packing.ts).
    ADD COLUMN packed bytea,
    ADD COLUMN dictionary bytea REFERENCES dictionaries;
  ALTER TABLE calls ALTER COLUMN packed SET STORAGE EXTERNAL;   -- compressed already
  CREATE INDEX calls_to_pack ON calls (created_at) WHERE NOT open AND rest = 0;
  -- The items of delivered batches by their ids: where each stands in its call's bundle, in bytes from 0.
  CREATE TABLE batch_items (
    id text PRIMARY KEY, key text NOT NULL REFERENCES calls, start integer NOT NULL, length integer NOT NULL
  );
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
    id text PRIMARY KEY, key text NOT NULL REFERENCES calls,
    round bigint NOT NULL, block_hash text NOT NULL, txn_id text,
    state text NOT NULL, due bigint NOT NULL,
    header json, siblings json,
    state_proof_sha256 text REFERENCES state_proofs
  );
  CREATE INDEX source_evidence_unfinished ON source_evidence (state, round) WHERE state IN ('waiting', 'included');
  `,
  `
  -- Message and checkpoint stand once, with the state proof.
  ALTER TABLE ledger_evidence RENAME COLUMN state_proof TO siblings;
  UPDATE ledger_evidence SET siblings = siblings -> 'siblings' WHERE siblings IS NOT NULL;
  `,
];

/** How many migrations this release knows. */
export const MIGRATIONS_KNOWN = MIGRATIONS.length;

/** How many migrations a database has had. */
export async function versionOf(client: ClientBase): Promise<number> {
  const { rows: tables } = await client.query<{ found: boolean }>(
    "SELECT to_regclass('migrations') IS NOT NULL AS found",
  );
  if (!tables[0]?.found) return 0;
  const { rows } = await client.query<{ done: number }>("SELECT coalesce(max(version), 0) AS done FROM migrations");
  return rows[0]?.done ?? 0;
}

/** How far a database's schema has come. */
export async function stateOf(client: ClientBase): Promise<SchemaState> {
  return schemaState(await versionOf(client), MIGRATIONS.length);
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
  if (state === "newer") throw new Error(WRITTEN_LATER);
  if (state !== "current") throw new Error("the journal was replaced by an earlier one: start the service again");
}

/**
 * Brings the schema up to date, in one transaction. Of replicas that start at once one does it, and the others wait.
 *
 * @param migrations a test's own
 * @throws Error when a later release has migrated the database further, or when replicas of an earlier one have it open;
 *   nothing is changed then
 */
export async function migrate(client: ClientBase, migrations = MIGRATIONS): Promise<void> {
  await client.query("BEGIN");
  try {
    await applyMigrations(client, migrations);
    await client.query("COMMIT");
  } catch (error) {
    await client.query("ROLLBACK").catch(() => undefined);
    throw error;
  }
}

/** As `migrate`, inside the caller's transaction. */
export async function applyMigrations(client: ClientBase, migrations = MIGRATIONS): Promise<void> {
  await client.query("SET LOCAL statement_timeout = 0");
  await client.query("SELECT pg_advisory_xact_lock(hashtext('attestd migrations'))");
  await client.query(
    "CREATE TABLE IF NOT EXISTS migrations (version integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())",
  );
  const done = await versionOf(client);
  if (done > migrations.length) throw new Error(WRITTEN_LATER);
  if (done > 0 && done < migrations.length) await waitForReplicas(client);
  for (const [i, migration] of migrations.slice(done).entries()) {
    await client.query(migration);
    await client.query("INSERT INTO migrations (version) VALUES ($1)", [done + i + 1]);
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
