import { DatabaseSync } from "node:sqlite";
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { hasCode } from "../../lib/errors.ts";
import { type SqliteCommands, sqliteCommands } from "./commands.ts";
import { lockJournal } from "./lock.ts";
import { watchPlace } from "./place.ts";
import { migrate } from "./schema.ts";

/*
 * The worker that alone writes the file. It runs all requests that have arrived in one transaction and replies after
 * COMMIT: a commit costs one fsync, however many calls are in it.
 */

export type Request = { id: number; command: keyof SqliteCommands | "close"; args: unknown[] };
/** The requests of one turn of the event loop. They are committed together. */
export type Requests = readonly Request[];
export type Reply = {
  id: number;
  value?: unknown;
  error?: { message: string; code?: "call_stale" | "name_taken" | "journal_behind" | undefined };
};
/** The replies to all requests of one commit; `seconds` that it took, where it wrote something. */
export type Replies = { replies: readonly Reply[]; seconds?: number };
/** A commit with as many takes no further message. */
const MAX_REQUESTS_PER_COMMIT = 256;

function open(path: string): { db: DatabaseSync; lock: DatabaseSync } {
  try {
    // A refused file is free again before the refusal is known: the worker's end may come later.
    using opened = new DisposableStack();
    const lock = opened.use(lockJournal(path));
    const db = opened.use(new DatabaseSync(path));
    db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
    db.exec("PRAGMA foreign_keys = ON");
    migrate(db);
    opened.move();
    return { db, lock };
  } catch (error) {
    const { message } = error as Error;
    throw new Error(`${path}: ${message.includes("locked") ? "another process has this journal open" : message}`);
  }
}

/** @throws any error of the command */
function replyTo({ id, command, args }: Request, run: SqliteCommands): Reply {
  return { id, value: (run[command as keyof SqliteCommands] as (...args: unknown[]) => unknown)(...args) };
}

/**
 * Runs a batch in one transaction. A request that fails does not fail the others: the batch then runs again with a
 * savepoint for each. Without need savepoints would cost every batch a quarter of its time.
 *
 * @throws Error when the commit itself failed
 */
function runBatch(db: DatabaseSync, run: SqliteCommands, batch: readonly Request[]): Reply[] {
  const apart = (request: Request): Reply => {
    db.exec("SAVEPOINT item");
    try {
      const reply = replyTo(request, run);
      db.exec("RELEASE item");
      return reply;
    } catch (error) {
      db.exec("ROLLBACK TO item; RELEASE item");
      const code = hasCode(error, "call_stale", "name_taken") ? error.code : undefined;
      return { id: request.id, error: { message: (error as Error).message, code } };
    }
  };
  let replies: Reply[];
  db.exec("BEGIN IMMEDIATE");
  try {
    replies = batch.map((request) => replyTo(request, run));
  } catch {
    if (db.isTransaction) db.exec("ROLLBACK");
    db.exec("BEGIN IMMEDIATE");
    replies = batch.map(apart);
  }
  db.exec("COMMIT");
  return replies;
}

/** Replies to each request of a batch whose commit has failed, as on a full disk: only those that read are answered. */
function readAfter({ message }: Error, db: DatabaseSync, run: SqliteCommands, batch: readonly Request[]): Reply[] {
  // The commit failed: nothing in the batch happened.
  if (db.isTransaction) db.exec("ROLLBACK");
  db.exec("PRAGMA query_only = ON");
  const replies = batch.map((request) => {
    try {
      return replyTo(request, run);
    } catch {
      return { id: request.id, error: { message } };
    }
  });
  db.exec("PRAGMA query_only = OFF");
  return replies;
}

function serve(port: MessagePort, path: string): void {
  const { db, lock } = open(path);
  const run = sqliteCommands(db);
  const place = watchPlace(path);
  const changes = db.prepare("SELECT total_changes() AS rows");
  function repliesTo(work: readonly Request[]): Replies {
    try {
      place.check();
    } catch (error) {
      const { message } = error as Error;
      return { replies: work.map(({ id }) => ({ id, error: { message, code: "journal_behind" } })) };
    }
    const [before, begun] = [changes.get()?.rows, performance.now()];
    try {
      const replies = runBatch(db, run, work);
      const seconds = (performance.now() - begun) / 1000;
      return changes.get()?.rows === before ? { replies } : { replies, seconds };
    } catch (error) {
      return { replies: readAfter(error as Error, db, run, work) };
    } finally {
      place.note();
    }
  }
  port.on("message", (first: Requests) => {
    const batch: Request[] = [];
    for (let next: { message: Requests } | undefined = { message: first }; next; ) {
      batch.push(...next.message);
      next = batch.length < MAX_REQUESTS_PER_COMMIT ? receiveMessageOnPort(port) : undefined;
    }
    const work = batch.filter(({ command }) => command !== "close");
    port.postMessage(repliesTo(work));
    if (work.length < batch.length) {
      place.close(db);
      lock.close();
      port.close();
    }
  });
}

if (parentPort) serve(parentPort, (workerData as { path: string }).path);
