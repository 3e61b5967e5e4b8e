import { Client, type ClientBase, type ClientConfig, type CustomTypesConfig, Pool, type PoolConfig, types } from "pg";
import { holdSchema } from "./schema.ts";

/** Time-outs of a connection attempt and of a statement, in ms. */
const CONNECT_MS = 5_000;
const STATEMENT_MS = 10_000;

/**
 * Set on every connection. The server's own settings may trade durability for speed. A replica that stops inside a
 * transaction must release its rows before other statements that wait for them time out. Every statement has an index,
 * but a plan that was cached while the tables were small would go on scanning them.
 */
export const SESSION = `
  SET synchronous_commit = on;
  SET enable_seqscan = off;
  SET default_transaction_isolation = 'read committed';
  SET idle_in_transaction_session_timeout = ${STATEMENT_MS / 2};
  SET statement_timeout = ${STATEMENT_MS}`;

/** Rounds and times are numbers: the driver would give every `bigint` as text. What may be greater is selected as text. */
export const TYPES: CustomTypesConfig = {
  getTypeParser: (oid, format) => (oid === types.builtins.INT8 ? Number : types.getTypeParser(oid, format)),
};

/** What every connection to a database has in common. @param url `postgres://…` */
export function connectionTo(url: string): ClientConfig {
  return {
    connectionString: url,
    types: TYPES,
    fallback_application_name: "attestd",
    connectionTimeoutMillis: CONNECT_MS,
    // Finds a dead peer within half a minute; the usual default of systems is two hours.
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  };
}

export function newClient(config: ClientConfig): Client {
  const client = new Client(config);
  // Without a listener an error between two statements would end the process; the next statement fails anyway.
  client.on("error", () => undefined);
  return client;
}

/** A pool whose connections hold the schema, and pass a check. One that does not is given up. */
export function newPool(config: ClientConfig, own: PoolConfig, check: (client: ClientBase) => Promise<void>): Pool {
  const pool = new Pool({
    ...config,
    ...own,
    // Longer than the server's own limit: for a server that does not answer at all.
    query_timeout: 1.5 * STATEMENT_MS,
    async onConnect(client: ClientBase) {
      await client.query(SESSION);
      await holdSchema(client);
      await check(client);
    },
  });
  // As in `newClient`: the pool itself listens to its idle connections only, and emits their errors.
  pool.on("error", () => undefined);
  pool.on("connect", (client) => client.on("error", () => undefined));
  return pool;
}

/**
 * Uses a connection, and ends it.
 *
 * @param use gets its database's host, port and name, too
 * @throws Error that names the database, and neither user nor password
 */
export async function connected<T>(url: string, use: (client: Client, name: string) => Promise<T>): Promise<T> {
  const config = connectionTo(url);
  const name = addressOf(config);
  const client = newClient(config);
  try {
    await client.connect();
    return await use(client, name);
  } catch (error) {
    throw new Error(`${name}: ${messageOf(error)}`);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Host, port and database. @throws Error when the URL cannot be read */
export function addressOf(config: ClientConfig): string {
  try {
    const { host, port, database } = new Client(config);
    return `PostgreSQL ${host}:${port}/${database}`;
  } catch (error) {
    throw new Error(`the URL of the PostgreSQL database cannot be read: ${messageOf(error)}`);
  }
}

/** The message of an error; for a host with several addresses the driver throws an AggregateError without one. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join("; ");
  return error instanceof Error ? error.message : String(error);
}
