import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql, startPostgres } from "../../packages/service/test/fakes/postgres.ts";

export type JournalKind = "sqlite" | "postgres";

/** Creates databases for deployments. */
export type Databases = {
  /** Creates an empty database. @returns its `journal.url` */
  create(kind: JournalKind): Promise<string>;
  close(): Promise<void>;
};

/** Enough for several cells at a time: each has two processes of some ten connections. */
const CONNECTIONS = 800;

/** @param kinds for which `create` is called; PostgreSQL is started only for `postgres` */
export async function openDatabases(kinds: ReadonlySet<JournalKind>): Promise<Databases> {
  const folder = await mkdtemp(join(tmpdir(), "attestd-crash-"));
  const postgres = kinds.has("postgres") ? await startPostgres() : undefined;
  if (postgres) {
    await sql(await postgres.database(), `ALTER SYSTEM SET max_connections = ${CONNECTIONS}`);
    await postgres.stop();
    await postgres.start();
  }
  let files = 0;
  return {
    async create(kind) {
      if (kind === "sqlite") return `sqlite:${join(folder, `${++files}.db`)}`;
      if (!postgres) throw new Error("no PostgreSQL was started");
      return postgres.database();
    },
    async close() {
      await postgres?.close();
      await rm(folder, { recursive: true });
    },
  };
}

/** Expires the leases of killed replicas now, instead of after 15 s, and notifies the running ones. */
export async function expireLeases(databaseUrl: string): Promise<void> {
  await sql(databaseUrl, "UPDATE replicas SET until = now()");
  await sql(databaseUrl, "SELECT pg_notify('attestd_freed', '')");
}
