import type { ClientBase } from "pg";
import { type SchemaState, schemaState } from "../reader.ts";

/**
 * Each is applied once and in order, and never changed once it was released: what comes later is a new one. While
 * replicas are replaced one by one, the older release still writes, so a migration only adds what that one can ignore.
 */
const MIGRATIONS: readonly string[] = [
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
  CREATE INDEX calls_of_payer ON calls (rail, payer) WHERE open;
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
  `,
  `
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
  -- For what a payer has promised and not paid yet; calls_of_payer also has those that are delivered and not final.
  CREATE INDEX calls_unpaid ON calls (rail, payer) WHERE state IN ('prepared', 'settling');
  `,
];

/** How many migrations this release knows. */
export const MIGRATIONS_KNOWN = MIGRATIONS.length;

/** How far a database's schema has come. */
export async function stateOf(client: ClientBase): Promise<SchemaState> {
  const { rows: tables } = await client.query<{ found: boolean }>(
    "SELECT to_regclass('migrations') IS NOT NULL AS found",
  );
  if (!tables[0]?.found) return "absent";
  const { rows } = await client.query<{ done: number }>("SELECT coalesce(max(version), 0) AS done FROM migrations");
  return schemaState(rows[0]?.done ?? 0, MIGRATIONS.length);
}

/**
 * Brings the schema up to date, in one transaction. Of replicas that start at once one does it, and the others wait.
 *
 * @throws Error when a later release has migrated the database further
 */
export async function migrate(client: ClientBase): Promise<void> {
  await client.query("BEGIN");
  try {
    await client.query("SET LOCAL statement_timeout = 0");
    await client.query("SELECT pg_advisory_xact_lock(hashtext('attestd migrations'))");
    await client.query(
      "CREATE TABLE IF NOT EXISTS migrations (version integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())",
    );
    const { rows } = await client.query<{ done: number }>("SELECT coalesce(max(version), 0) AS done FROM migrations");
    const done = rows[0]?.done ?? 0;
    if (done > MIGRATIONS.length) throw new Error("a later release of attestd has written this journal");
    for (const [i, migration] of MIGRATIONS.slice(done).entries()) {
      await client.query(migration);
      await client.query("INSERT INTO migrations (version) VALUES ($1)", [done + i + 1]);
    }
    await client.query("COMMIT");
  } catch (error) {
    await client.query("ROLLBACK").catch(() => undefined);
    throw error;
  }
}
