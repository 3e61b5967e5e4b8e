import { DatabaseSync, type StatementSync } from "node:sqlite";
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import type { KeyEntry } from "@attestd/proof/trust";
import type { RailName } from "../../payment/rails/rail.ts";
import type { Call } from "../call.ts";
import type { Identity } from "../store.ts";

/*
 * The one thread that touches the file. Everything that has arrived is run in one transaction, each item in a savepoint
 * of its own, and answered after COMMIT: a commit costs one fsync however many calls are in it, and an item that fails
 * takes no other with it.
 */

export type Request = { id: number; command: keyof SqliteCommands | "close"; args: unknown[] };
export type Reply = { id: number; value?: unknown; error?: { message: string; stale: boolean } };
export type SqliteCommands = ReturnType<typeof commands>;

const MOST_IN_A_COMMIT = 256;

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS calls (
    key TEXT PRIMARY KEY,
    rail TEXT NOT NULL, payer TEXT NOT NULL, subject_hash TEXT NOT NULL,
    request TEXT NOT NULL,                 -- JSON of what is fixed when the call is prepared
    state TEXT NOT NULL, version INTEGER NOT NULL,
    progress TEXT NOT NULL,                -- JSON of the rest, but for attempts and bundle
    bundle_id TEXT UNIQUE, bundle TEXT,
    created_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS calls_open ON calls (created_at) WHERE state NOT IN ('done', 'void', 'refunded', 'loss');
  CREATE TABLE IF NOT EXISTS aliases (alias TEXT PRIMARY KEY, key TEXT NOT NULL REFERENCES calls) STRICT;
  CREATE TABLE IF NOT EXISTS attempts (
    txid TEXT PRIMARY KEY, key TEXT NOT NULL REFERENCES calls, raw BLOB NOT NULL,
    first_valid INTEGER NOT NULL, last_valid INTEGER NOT NULL, dead INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS attempts_of ON attempts (key, first_valid);
  CREATE TABLE IF NOT EXISTS payees (rail TEXT NOT NULL, address TEXT NOT NULL, PRIMARY KEY (rail, address)) STRICT;
  CREATE TABLE IF NOT EXISTS keys (place INTEGER PRIMARY KEY, entry TEXT NOT NULL) STRICT;
`;

class Stale extends Error {}

function open(path: string): DatabaseSync {
  try {
    const db = new DatabaseSync(path);
    // Exclusive: a second process is refused, instead of running the same calls a second time.
    db.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
    db.exec(`PRAGMA foreign_keys = ON; BEGIN IMMEDIATE; ${SCHEMA} COMMIT`);
    return db;
  } catch (error) {
    const { message } = error as Error;
    throw new Error(`${path}: ${message.includes("locked") ? "another process has this journal open" : message}`);
  }
}

/** The statements of the journal; each runs inside the transaction of its batch. */
function commands(db: DatabaseSync) {
  const sql = (text: string): StatementSync => db.prepare(text);
  const findCall = sql("SELECT * FROM calls WHERE key = ?");
  const findAlias = sql("SELECT key FROM aliases WHERE alias = ?");
  const findAttempts = sql("SELECT * FROM attempts WHERE key = ? ORDER BY first_valid, rowid");
  const insertCall = sql(
    "INSERT INTO calls (key, rail, payer, subject_hash, request, state, version, progress, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
  );
  const insertAlias = sql("INSERT INTO aliases (alias, key) VALUES (?, ?)");
  const updateCall = sql(
    "UPDATE calls SET state = ?, version = ?, progress = ?, bundle_id = ?, bundle = ? WHERE key = ? AND version = ?",
  );
  const writeAttempt = sql(
    "INSERT INTO attempts (txid, key, raw, first_valid, last_valid, dead) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (txid) DO UPDATE SET dead = excluded.dead",
  );
  const openCalls = sql(
    "SELECT * FROM calls WHERE state NOT IN ('done', 'void', 'refunded', 'loss') ORDER BY created_at",
  );
  const findBundle = sql("SELECT bundle FROM calls WHERE bundle_id = ?");
  const insertMeta = sql("INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING");
  const readMeta = sql("SELECT value FROM meta WHERE name = ?");
  const insertPayee = sql("INSERT INTO payees (rail, address) VALUES (?, ?) ON CONFLICT DO NOTHING");
  const allPayees = sql("SELECT rail, address FROM payees");
  const insertKey = sql("INSERT INTO keys (entry) VALUES (?)");
  const allKeys = sql("SELECT entry FROM keys ORDER BY place");

  function toCall(row: Record<string, unknown>): Call {
    const attempts = findAttempts.all(row.key as string).map((attempt) => ({
      txid: attempt.txid as string,
      raw: attempt.raw as Uint8Array,
      firstValid: attempt.first_valid as number,
      lastValid: attempt.last_valid as number,
      dead: attempt.dead === 1,
    }));
    return {
      ...JSON.parse(row.request as string),
      ...JSON.parse(row.progress as string),
      key: row.key,
      rail: row.rail,
      payer: row.payer,
      subjectHash: row.subject_hash,
      createdAt: row.created_at,
      state: row.state,
      version: row.version,
      attempts,
      ...(row.bundle !== null && { bundle: { id: row.bundle_id, body: row.bundle } }),
    } as Call;
  }

  function find(key: string): Call | undefined {
    const row = findCall.get(key) ?? findCall.get((findAlias.get(key)?.key as string | undefined) ?? "");
    return row && toCall(row);
  }

  function progress({ settlements, proof, round, reason, receipt }: Call): string {
    return JSON.stringify({ settlements, proof, round, reason, receipt });
  }

  return {
    ready(): void {},
    claim(identity: Identity): Identity {
      insertMeta.run("identity", JSON.stringify(identity));
      return JSON.parse(readMeta.get("identity")?.value as string);
    },
    find,
    insert(call: Call): Call {
      for (const key of [call.key, ...call.aliases]) {
        const holder = find(key);
        if (holder) return holder;
      }
      const { aliases, subject, payload, requirement, evidence } = call;
      const request = JSON.stringify({ aliases, subject, payload, requirement, evidence });
      const { key, rail, payer, subjectHash, state, version, createdAt } = call;
      insertCall.run(key, rail, payer, subjectHash, request, state, version, progress(call), createdAt);
      for (const alias of aliases) insertAlias.run(alias, key);
      return call;
    },
    update(after: Call): void {
      const { key, state, version, bundle } = after;
      const { changes } = updateCall.run(
        state,
        version,
        progress(after),
        bundle?.id ?? null,
        bundle?.body ?? null,
        key,
        version - 1,
      );
      if (changes !== 1) throw new Stale(key);
      const last = after.attempts.at(-1);
      if (last) writeAttempt.run(last.txid, key, last.raw, last.firstValid, last.lastValid, last.dead ? 1 : 0);
    },
    open(): Call[] {
      return openCalls.all().map(toCall);
    },
    bundle(id: string): string | undefined {
      return findBundle.get(id)?.bundle as string | undefined;
    },
    rememberPayees(payees: readonly { rail: RailName; address: string }[]): void {
      for (const { rail, address } of payees) insertPayee.run(rail, address);
    },
    payees(): { rail: RailName; address: string }[] {
      return allPayees.all() as { rail: RailName; address: string }[];
    },
    keys(): KeyEntry[] {
      return allKeys.all().map((row) => JSON.parse(row.entry as string));
    },
    appendKey(entry: KeyEntry): void {
      insertKey.run(JSON.stringify(entry));
    },
  };
}

function runBatch(db: DatabaseSync, run: ReturnType<typeof commands>, batch: Request[]): Reply[] {
  const replies: Reply[] = [];
  db.exec("BEGIN IMMEDIATE");
  for (const { id, command, args } of batch) {
    db.exec("SAVEPOINT item");
    try {
      const value = (run[command as keyof SqliteCommands] as (...args: unknown[]) => unknown)(...args);
      db.exec("RELEASE item");
      replies.push({ id, value });
    } catch (error) {
      db.exec("ROLLBACK TO item; RELEASE item");
      replies.push({ id, error: { message: (error as Error).message, stale: error instanceof Stale } });
    }
  }
  db.exec("COMMIT");
  return replies;
}

function serve(port: MessagePort, path: string): void {
  const db = open(path);
  const run = commands(db);
  port.on("message", (first: Request) => {
    const batch: Request[] = [];
    for (let next: { message: Request } | undefined = { message: first }; next; ) {
      batch.push(next.message);
      next = batch.length < MOST_IN_A_COMMIT ? receiveMessageOnPort(port) : undefined;
    }
    const work = batch.filter(({ command }) => command !== "close");
    try {
      for (const reply of runBatch(db, run, work)) port.postMessage(reply);
    } catch (error) {
      // The commit itself failed: nothing in the batch happened.
      if (db.isTransaction) db.exec("ROLLBACK");
      for (const { id } of work) port.postMessage({ id, error: { message: (error as Error).message, stale: false } });
    }
    if (work.length < batch.length) {
      db.close();
      port.close();
    }
  });
}

if (parentPort) serve(parentPort, (workerData as { path: string }).path);
