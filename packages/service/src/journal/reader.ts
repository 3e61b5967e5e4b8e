import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import type { KeyEntry } from "@attestd/proof/trust";
import type { KeyRevocation } from "../attestor/key-journal.ts";
import type { Call } from "../calls/call.ts";
import type { Identity } from "../calls/journal.ts";
import type { RailName } from "../payment/rails/rail.ts";
import { CALL as POSTGRES_CALL } from "./postgres/statements.ts";
import { toCall } from "./record.ts";
import { CALL, callOf, type FoundRow } from "./sqlite/rows.ts";

/** Where a journal is. */
export type Database = { kind: "sqlite"; path: string } | { kind: "postgres"; url: string };

/**
 * A journal as an auditor opens it: read only. It is no replica, takes no lease, and leaves the schema as it is.
 *
 * Every method throws Error when the database cannot be read; user and password are never named.
 */
export interface JournalReader extends AsyncDisposable {
  /**
   * Every call, by its key. Page by page, so that a service beside it is not held up; MUST give each call that was
   * committed before it began, as it was then or later.
   */
  calls(): AsyncIterable<Call>;
  /** Whose journal it is; undefined while no service has begun it. */
  identity(): Promise<Identity | undefined>;
  /** Every payee that is, or ever was, ours. */
  payees(): Promise<{ rail: RailName; address: string }[]>;
  /** The entries of the key history, oldest first, as they were added: without `untilRound` and `revokedRound`. */
  keys(): Promise<KeyEntry[]>;
  /** Every revocation of a key. */
  revocations(): Promise<KeyRevocation[]>;
}

const IDENTITY = "SELECT value FROM meta WHERE name = 'identity'";
const REVOCATIONS = "SELECT kid, revoked_round FROM key_revocations ORDER BY place";
/** Calls read at once: with their bundles some 25 KiB each. */
const PAGE = 200;

export function openJournalReader(database: Database): Promise<JournalReader> {
  return database.kind === "sqlite" ? openSqlite(database.path) : openPostgres(database.url);
}

async function openSqlite(path: string): Promise<JournalReader> {
  if (!existsSync(path)) throw new Error(`${path}: there is no such journal`);
  const db = new DatabaseSync(path, { readOnly: true });
  const run = (text: string, ...values: (string | number)[]) => {
    try {
      return db.prepare(text).all(...values) as Record<string, string>[];
    } catch (error) {
      const { message } = error as Error;
      throw new Error(`${path}: ${message.includes("locked") ? "a service has this journal open" : message}`);
    }
  };
  const page = `SELECT ${CALL} FROM calls WHERE key > ? ORDER BY key LIMIT ${PAGE}`;
  return {
    calls: () => inPages(async (after) => run(page, after).map((row) => callOf(row as unknown as FoundRow))),
    identity: async () => run(IDENTITY).map(({ value = "" }) => JSON.parse(value))[0],
    payees: async () => run("SELECT rail, address FROM payees") as { rail: RailName; address: string }[],
    keys: async () => run("SELECT entry FROM keys ORDER BY place").map(({ entry = "" }) => JSON.parse(entry)),
    revocations: async () => run(REVOCATIONS).map(toRevocation),
    [Symbol.asyncDispose]: async () => db.close(),
  };
}

async function openPostgres(url: string): Promise<JournalReader> {
  const { Client } = await import("pg");
  const client = new Client({ connectionString: url, fallback_application_name: "attestd audit" });
  client.on("error", () => undefined);
  const run = async (text: string, ...values: string[]) => {
    try {
      return (await client.query(text, values)).rows;
    } catch (error) {
      throw unreadable(error);
    }
  };
  await client.connect().catch((error: unknown) => {
    throw unreadable(error);
  });
  await run("SET default_transaction_read_only = on");
  const page = `SELECT ${POSTGRES_CALL} FROM calls WHERE key > $1 ORDER BY key LIMIT ${PAGE}`;
  return {
    calls: () =>
      inPages(async (after) =>
        (await run(page, after)).map((row) => toCall({ ...row, created_at: Number(row.created_at) })),
      ),
    identity: async () => (await run(IDENTITY)).map(({ value }) => value)[0],
    payees: () => run("SELECT rail, address FROM payees"),
    keys: async () => (await run("SELECT entry FROM keys ORDER BY place")).map(({ entry }) => entry),
    revocations: async () => (await run(REVOCATIONS)).map(toRevocation),
    [Symbol.asyncDispose]: () => client.end(),
  };
}

function toRevocation({ kid, revoked_round }: Record<string, unknown>): KeyRevocation {
  return { kid: String(kid), revokedRound: Number(revoked_round) };
}

async function* inPages(read: (after: string) => Promise<Call[]>): AsyncGenerator<Call> {
  for (let after = ""; ; ) {
    const calls = await read(after);
    yield* calls;
    const last = calls.at(-1);
    if (!last || calls.length < PAGE) return;
    after = last.key;
  }
}

/** The driver's own words may name the user. */
function unreadable(error: unknown): Error {
  const { code } = error as { code?: string };
  return new Error(`the journal in PostgreSQL cannot be read (${code ?? "no answer"})`);
}
