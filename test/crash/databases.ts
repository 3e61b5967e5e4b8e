import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql, startPostgres } from "../../packages/service/test/fakes/postgres.ts";

export type JournalKind = "sqlite" | "postgres";

/** Makes databases for deployments. */
export type Databases = {
  /** An empty one. @returns its DATABASE_URL */
  create(kind: JournalKind): Promise<string>;
  close(): Promise<void>;
};

/** Two processes a cell, some ten connections each, and cells side by side. */
const CONNECTIONS = 800;

/** @param kinds that `create` is called with: PostgreSQL is started only when it is among them */
export async function openDatabases(kinds: ReadonlySet<JournalKind>): Promise<Databases> {
  const folder = await mkdtemp(join(tmpdir(), "attestd-crash-"));
  const postgres = kinds.has("postgres") ? await startPostgres() : undefined;
  if (postgres) {
    await sql(await postgres.database(), `ALTER SYSTEM SET max_connections = ${CONNECTIONS}`);
    await postgres.stop();
    await postgres.start();
  }
  let made = 0;
  return {
    async create(kind) {
      if (kind === "sqlite") return `sqlite:${join(folder, `${++made}.db`)}`;
      if (!postgres) throw new Error("no PostgreSQL was started");
      return postgres.database();
    },
    async close() {
      await postgres?.close();
      await rm(folder, { recursive: true });
    },
  };
}

/** Lets the leases of every replica that has died run out now, as they would in 15 s, and tells those that live. */
export async function expireLeases(databaseUrl: string): Promise<void> {
  await sql(databaseUrl, "UPDATE replicas SET until = now()");
  await sql(databaseUrl, "SELECT pg_notify('attestd_freed', '')");
}
