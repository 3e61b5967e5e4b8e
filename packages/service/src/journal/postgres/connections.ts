import { Client, type ClientBase, type ClientConfig, Pool, type PoolConfig } from "pg";

/** How long a connection may take to be made, and a statement to be answered, in ms. */
const CONNECT_MS = 5_000;
const STATEMENT_MS = 10_000;

/**
 * For every connection. Whoever set the server up may have traded durability for speed; a replica that stands still in
 * a transaction must let its rows go before those who wait for them give up; and every statement has its index, but a
 * plan that was made and kept while the tables were small would go on reading them whole.
 */
export const SESSION = `
  SET synchronous_commit = on;
  SET enable_seqscan = off;
  SET default_transaction_isolation = 'read committed';
  SET idle_in_transaction_session_timeout = ${STATEMENT_MS / 2};
  SET statement_timeout = ${STATEMENT_MS}`;

/** What every connection to a database has in common. @param url `postgres://…` */
export function connectionTo(url: string): ClientConfig {
  return {
    connectionString: url,
    fallback_application_name: "attestd",
    connectionTimeoutMillis: CONNECT_MS,
    // A peer that went away without a word is noticed within half a minute, and not in two hours as systems have it.
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  };
}

export function newClient(config: ClientConfig): Client {
  const client = new Client(config);
  // Without a listener an error between two statements would end the process; the next statement meets it anyway.
  client.on("error", () => undefined);
  return client;
}

export function newPool(config: ClientConfig, own: PoolConfig): Pool {
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
export function placeOf(config: ClientConfig): string {
  try {
    const { host, port, database } = new Client(config);
    return `PostgreSQL ${host}:${port}/${database}`;
  } catch (error) {
    throw new Error(`the URL of the PostgreSQL database cannot be read: ${messageOf(error)}`);
  }
}

/** Of a host with several addresses the driver reports all failures in one, which has no message of its own. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join("; ");
  return error instanceof Error ? error.message : String(error);
}
