import { randomUUID } from "node:crypto";
import {
  Client,
  type ClientBase,
  type ClientConfig,
  Pool,
  type PoolConfig,
  type QueryConfig,
  type QueryResultRow,
} from "pg";
import type { Call } from "../call.ts";
import { isAtRest, isFinal } from "../machine.ts";
import { LEASE_MS, type Listener, StaleCall, type Store } from "../store.ts";
import { ENDED, FREED, listenOn } from "./postgres-listener.ts";
import { migrate } from "./postgres-schema.ts";
import { Writer } from "./postgres-writer.ts";
import { type CallRecord, progressOf, requestOf, toCall } from "./record.ts";

/** How long a connection may take to be made, and a statement to be answered, in ms. */
const CONNECT_MS = 5_000;
const STATEMENT_MS = 10_000;
/** Connections for everything but the commits of calls. */
const READERS = 8;

/**
 * For every connection. Whoever set the server up may have traded durability for speed; a replica that stands still in
 * a transaction must not hold its rows against the others; and every statement has its index, but a plan that was made
 * and kept while the tables were small would go on reading them whole.
 */
const SESSION = `
  SET synchronous_commit = on;
  SET enable_seqscan = off;
  SET default_transaction_isolation = 'read committed';
  SET idle_in_transaction_session_timeout = ${STATEMENT_MS};
  SET statement_timeout = ${STATEMENT_MS}`;

/** A call and its attempts, of one snapshot. */
const CALL = `
  calls.*, (
    SELECT coalesce(json_agg(json_build_object('txid', txid, 'raw', encode(raw, 'hex'), 'firstValid', first_valid,
      'lastValid', last_valid, 'dead', dead) ORDER BY place), '[]')
    FROM attempts WHERE attempts.key = calls.key
  ) AS attempts`;

/** Each is prepared once a connection, under its name. */
const SQL = {
  find: `SELECT ${CALL} FROM names JOIN calls ON calls.key = names.key WHERE name = $1`,
  open: `SELECT ${CALL} FROM calls WHERE open ORDER BY created_at`,
  among: `SELECT ${CALL} FROM calls WHERE key = ANY ($1) ORDER BY created_at`,
  exposure: `
    SELECT coalesce(sum((request -> 'requirement' ->> 'amount')::bigint), 0)::text AS amount FROM calls
    WHERE open AND rail = $1 AND payer = $2 AND state IN ('prepared', 'settling')`,
  bundle: "SELECT bundle FROM calls WHERE bundle_id = $1",
  // No row comes back when a name is held. One that another replica inserts meanwhile is a unique violation: run again.
  insert: `
    WITH inserted AS (
      INSERT INTO calls (key, rail, payer, subject_hash, created_at, request, state, version, open, progress, owner)
      SELECT $2, $3, $4, $5, $6::bigint, $7::json, $8, $9::integer, TRUE, $10::json, $11::uuid
      WHERE NOT EXISTS (SELECT FROM names WHERE name = ANY ($1))
      ON CONFLICT (key) DO NOTHING
      RETURNING key
    )
    INSERT INTO names (name, key) SELECT name, key FROM inserted, unnest($1::text[]) AS name RETURNING key`,
  // One row comes back when the call was moved.
  update: `
    WITH moved AS (
      UPDATE calls SET version = $2, state = $3, open = $4, progress = $5, bundle_id = $6, bundle = $7
      WHERE key = $1 AND version = $2 - 1
      RETURNING key
    ), attempt AS (
      INSERT INTO attempts (txid, key, place, raw, first_valid, last_valid, dead)
      SELECT $8, key, $9::integer, $10::bytea, $11::bigint, $12::bigint, $13::boolean FROM moved WHERE $8::text IS NOT NULL
      ON CONFLICT (txid) DO UPDATE SET dead = excluded.dead WHERE attempts.dead <> excluded.dead
    )
    SELECT CASE WHEN NOT $14::boolean THEN NULL ELSE pg_notify('${ENDED}', key)::text END FROM moved`,
  lease: `
    WITH free AS (
      SELECT key FROM calls
      WHERE open AND CASE WHEN owner = $1 THEN key <> ALL ($2)
        ELSE NOT EXISTS (SELECT FROM replicas WHERE id = owner AND until > now()) END
      ORDER BY created_at LIMIT $3
      FOR UPDATE SKIP LOCKED
    )
    UPDATE calls SET owner = $1 FROM free WHERE calls.key = free.key RETURNING calls.key`,
  renew: `
    INSERT INTO replicas (id, until) VALUES ($1, now() + $2 * interval '1 ms')
    ON CONFLICT (id) DO UPDATE SET until = excluded.until`,
  // One that is not there counts as dead; one that stood still for so long comes back with its next `renew`.
  forget: "DELETE FROM replicas WHERE until < now() - interval '1 day'",
  lost: "SELECT key FROM calls WHERE key = ANY ($2) AND NOT (open AND owner = $1)",
  release: `WITH gone AS (DELETE FROM replicas WHERE id = $1) SELECT pg_notify('${FREED}', '')`,
  claim: "INSERT INTO meta (name, value) VALUES ('identity', $1) ON CONFLICT DO NOTHING",
  claimed: "SELECT value FROM meta WHERE name = 'identity'",
  rememberPayee: "INSERT INTO payees (rail, address) VALUES ($1, $2) ON CONFLICT DO NOTHING",
  payees: "SELECT rail, address FROM payees ORDER BY rail, address",
  appendKey: "INSERT INTO keys (kid, entry) VALUES ($1, $2) ON CONFLICT (kid) DO NOTHING",
  keys: "SELECT entry FROM keys ORDER BY place",
} as const;

type Row = Omit<CallRecord, "created_at"> & { created_at: string };

/**
 * A journal in a PostgreSQL database, which several replicas may have open at once.
 *
 * @param url `postgres://…`, as libpq reads it; made ready for use when the database is empty
 * @throws Error when the database cannot be used, or a later release has written it; it never names user or password
 */
export async function openPostgresStore(url: string): Promise<Store> {
  const config: ClientConfig = {
    connectionString: url,
    fallback_application_name: "attestd",
    connectionTimeoutMillis: CONNECT_MS,
    // A peer that went away without a word is noticed within half a minute, and not in two hours as systems have it.
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  };
  const place = placeOf(config);
  try {
    return await open(config);
  } catch (error) {
    // Neither the error itself nor its cause: what the driver hangs on its errors is not ours to vouch for.
    throw new Error(`${place}: ${messageOf(error)}`);
  }
}

async function open(config: ClientConfig): Promise<Store> {
  const me = randomUUID();
  const held = new Set<string>();
  const listeners = new Set<Listener>();

  await using opened = new AsyncDisposableStack();
  const migrator = newClient(config);
  try {
    await migrator.connect();
    await migrator.query(SESSION);
    await migrate(migrator);
  } finally {
    await migrator.end().catch(() => undefined);
  }
  const pool = newPool(config, { max: READERS });
  opened.defer(() => pool.end());
  const committing = newPool(config, { max: 1, pipeline: true, idleTimeoutMillis: 0 });
  opened.defer(() => committing.end());
  const writer = new Writer(committing);
  const hearing = await listenOn(() => newClient(config), {
    ended: (key) => tell((listener) => listener.ended?.(key)),
    freed: () => tell((listener) => listener.freed?.()),
  });
  opened.defer(() => hearing.close());

  function tell(what: (listener: Listener) => void): void {
    for (const listener of [...listeners]) what(listener);
  }

  async function ask<R extends QueryResultRow>(name: keyof typeof SQL, ...values: unknown[]): Promise<R[]> {
    return (await pool.query<R>(statement(name, values))).rows;
  }

  async function calls(name: "find" | "open" | "among", ...values: unknown[]): Promise<Call[]> {
    return (await ask<Row>(name, ...values)).map((row) => toCall({ ...row, created_at: Number(row.created_at) }));
  }

  async function find(key: string): Promise<Call | undefined> {
    return (await calls("find", key))[0];
  }

  async function renew(): Promise<string[]> {
    const asked = [...held];
    await ask("renew", me, LEASE_MS);
    const lost = asked.length === 0 ? [] : await ask<{ key: string }>("lost", me, asked);
    return lost.map(({ key }) => key).filter((key) => held.delete(key));
  }

  await ask("forget");
  await renew();
  const closing = opened.move();
  return {
    find,
    renew,
    open: () => calls("open"),
    holds: (key) => held.has(key),
    async claim(identity) {
      await ask("claim", JSON.stringify(identity));
      const [row] = await ask("claimed");
      return row?.value;
    },
    async insert(call) {
      const { key, rail, payer, subjectHash, createdAt, state, version } = call;
      const names = [key, ...call.aliases];
      const { rowCount } = await writer.write(
        key,
        statement("insert", [
          names,
          key,
          rail,
          payer,
          subjectHash,
          createdAt,
          requestOf(call),
          state,
          version,
          progressOf(call),
          me,
        ]),
      );
      if (rowCount !== 0) {
        held.add(key);
        return call;
      }
      for (const name of names) {
        const holder = await find(name);
        if (holder) return holder;
      }
      throw new Error(`nobody holds ${key}, and it could not be inserted`);
    },
    async update(after) {
      const { key, version, state, bundle, attempts } = after;
      const last = attempts.at(-1);
      const { rowCount } = await writer.write(
        key,
        statement("update", [
          key,
          version,
          state,
          !isAtRest(after),
          progressOf(after),
          bundle?.id,
          bundle?.body,
          last?.txid,
          attempts.length - 1,
          last?.raw,
          last?.firstValid,
          last?.lastValid,
          last?.dead,
          isFinal(state),
        ]),
      );
      if (rowCount !== 1) throw new StaleCall(key);
      if (isAtRest(after)) held.delete(key);
    },
    async lease(limit) {
      const taken = await ask<{ key: string }>("lease", me, [...held], limit);
      if (taken.length === 0) return [];
      const keys = taken.map(({ key }) => key);
      // Read afterwards: an UPDATE gives rows as they are now, but their attempts as they were when it began.
      const leased = await calls("among", keys);
      for (const key of keys) held.add(key);
      return leased;
    },
    async exposure(rail, payer) {
      const [row] = await ask<{ amount: string }>("exposure", rail, payer);
      return BigInt(row?.amount ?? 0);
    },
    async release() {
      await ask("release", me);
      held.clear();
    },
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async bundle(id) {
      const [row] = await ask<{ bundle: string }>("bundle", id);
      return row?.bundle;
    },
    async rememberPayees(payees) {
      for (const { rail, address } of payees) await ask("rememberPayee", rail, address);
    },
    payees: () => ask("payees"),
    async keys() {
      return (await ask("keys")).map(({ entry }) => entry);
    },
    async appendKey(entry) {
      await ask("appendKey", entry.kid, JSON.stringify(entry));
    },
    async close() {
      await writer.idle();
      await closing.disposeAsync();
    },
  };
}

function statement(name: keyof typeof SQL, values: unknown[]): QueryConfig {
  return { name, text: SQL[name], values };
}

function newClient(config: ClientConfig): Client {
  const client = new Client(config);
  // Without a listener an error between two statements would end the process; the next statement meets it anyway.
  client.on("error", () => undefined);
  return client;
}

function newPool(config: ClientConfig, own: PoolConfig): Pool {
  const pool = new Pool({
    ...config,
    ...own,
    // Longer than the server's own limit: this one is for a server that does not answer at all.
    query_timeout: 1.5 * STATEMENT_MS,
    onConnect: (client: ClientBase) => client.query(SESSION),
  });
  // As in `newClient`: the pool listens to its idle connections only, and passes their errors on.
  pool.on("error", () => undefined);
  pool.on("connect", (client) => client.on("error", () => undefined));
  return pool;
}

/** Host, port and database. @throws Error when the URL cannot be read */
function placeOf(config: ClientConfig): string {
  try {
    const { host, port, database } = new Client(config);
    return `PostgreSQL ${host}:${port}/${database}`;
  } catch (error) {
    throw new Error(`the URL of the PostgreSQL database cannot be read: ${messageOf(error)}`);
  }
}

/** Of a host with several addresses the driver reports all failures in one, which has no message of its own. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join("; ");
  return error instanceof Error ? error.message : String(error);
}
