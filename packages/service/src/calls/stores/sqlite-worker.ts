import { DatabaseSync, type StatementSync } from "node:sqlite";
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import type { KeyEntry } from "@attestd/proof/trust";
import type { KeyAnnouncement, KeyRevocation } from "../../attestor/key-journal.ts";
import type { RailName } from "../../payment/rails/rail.ts";
import type { Call } from "../call.ts";
import { isAtRest } from "../machine.ts";
import type { Identity } from "../store.ts";
import { progressOf, requestOf, toCall } from "./record.ts";
import { migrate } from "./sqlite-schema.ts";

/*
 * The one thread that touches the file. Everything that has arrived is run in one transaction, each item in a savepoint
 * of its own, and answered after COMMIT: a commit costs one fsync however many calls are in it, and an item that fails
 * takes no other with it.
 */

export type Request = { id: number; command: keyof SqliteCommands | "close"; args: unknown[] };
export type Reply = { id: number; value?: unknown; error?: { message: string; stale: boolean } };
export type SqliteCommands = ReturnType<typeof commands>;

const MOST_IN_A_COMMIT = 256;

/** A call and its attempts; the JSON is parsed by `callOf`. */
const CALL = `
  calls.*, (
    SELECT json_group_array(
      json_object('txid', txid, 'raw', hex(raw), 'firstValid', first_valid, 'lastValid', last_valid, 'dead',
        json(iif(dead, 'true', 'false'))) ORDER BY place)
    FROM attempts WHERE attempts.key = calls.key
  ) AS attempts`;

class Stale extends Error {}

function open(path: string): DatabaseSync {
  try {
    lock(`${path}.lock`);
    const db = new DatabaseSync(path);
    db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
    db.exec("PRAGMA foreign_keys = ON");
    migrate(db);
    return db;
  } catch (error) {
    const { message } = error as Error;
    throw new Error(`${path}: ${message.includes("locked") ? "another process has this journal open" : message}`);
  }
}

/**
 * Locks a file for as long as this process lives: a second one is refused, instead of running the same calls a second
 * time. A file of its own, so that an auditor may read the journal meanwhile.
 */
function lock(path: string): void {
  const db = new DatabaseSync(path);
  db.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
  locks.push(db);
}

/** Kept, for a lock that is collected is given up. */
const locks: DatabaseSync[] = [];

function callOf(row: Record<string, unknown>): Call {
  const { request, progress, attempts } = row as Record<string, string>;
  return toCall({
    ...(row as Parameters<typeof toCall>[0]),
    request: JSON.parse(request as string),
    progress: JSON.parse(progress as string),
    attempts: JSON.parse(attempts as string),
  });
}

/** The statements of the journal; each runs inside the transaction of its batch. */
function commands(db: DatabaseSync) {
  const sql = (text: string): StatementSync => db.prepare(text);
  const findCall = sql(`SELECT ${CALL} FROM names JOIN calls ON calls.key = names.key WHERE name = ?`);
  const insertCall = sql(
    "INSERT INTO calls (key, rail, payer, subject_hash, created_at, request, state, version, open, progress) VALUES (?, ?, ?, ?, ?, ?, ?, ?, TRUE, ?)",
  );
  const insertName = sql("INSERT INTO names (name, key) VALUES (?, ?)");
  const updateCall = sql(
    "UPDATE calls SET state = ?, version = ?, open = ?, progress = ?, bundle_id = ?, bundle = ? WHERE key = ? AND version = ?",
  );
  const writeAttempt = sql(
    "INSERT INTO attempts (txid, key, place, raw, first_valid, last_valid, dead) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (txid) DO UPDATE SET dead = excluded.dead WHERE dead <> excluded.dead",
  );
  const openCalls = sql(`SELECT ${CALL} FROM calls WHERE open ORDER BY created_at`);
  const unheldCalls = sql(
    `SELECT ${CALL} FROM calls WHERE open AND key NOT IN (SELECT value FROM json_each(?)) ORDER BY created_at LIMIT ?`,
  );
  const sumUnpaid = sql(
    "SELECT coalesce(sum(CAST(request ->> '$.requirement.amount' AS INTEGER)), 0) AS amount FROM calls WHERE open AND rail = ? AND payer = ? AND state IN ('prepared', 'settling')",
  );
  const findBundle = sql("SELECT bundle FROM calls WHERE bundle_id = ?");
  const insertMeta = sql("INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING");
  const readMeta = sql("SELECT value FROM meta WHERE name = ?");
  const insertPayee = sql("INSERT INTO payees (rail, address) VALUES (?, ?) ON CONFLICT DO NOTHING");
  const allPayees = sql("SELECT rail, address FROM payees ORDER BY rail, address");
  const insertKey = sql("INSERT INTO keys (kid, entry) VALUES (?, ?) ON CONFLICT (kid) DO NOTHING");
  const allKeys = sql("SELECT entry FROM keys ORDER BY place");
  const insertRevocation = sql("INSERT INTO key_revocations (kid, revoked_round) VALUES (?, ?) ON CONFLICT DO NOTHING");
  const allRevocations = sql("SELECT kid, revoked_round AS revokedRound FROM key_revocations ORDER BY place");
  const insertAnnouncement = sql(
    "INSERT INTO key_announcement (place, record, txid, raw, first_valid, last_valid) VALUES (1, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
  );
  const readAnnouncement = sql(
    "SELECT record, txid, raw, first_valid AS firstValid, last_valid AS lastValid FROM key_announcement",
  );
  const deleteAnnouncement = sql("DELETE FROM key_announcement WHERE txid = ? RETURNING record");

  function find(key: string): Call | undefined {
    const row = findCall.get(key);
    return row && callOf(row);
  }

  return {
    ready(): void {},
    claim(identity: Identity): Identity {
      insertMeta.run("identity", JSON.stringify(identity));
      return JSON.parse(readMeta.get("identity")?.value as string);
    },
    find,
    /** @returns the earlier holder of a key or an alias; undefined when the call was inserted */
    insert(call: Call): Call | undefined {
      const { key, rail, payer, subjectHash, createdAt, state, version } = call;
      const names = [key, ...call.aliases];
      for (const name of names) {
        const holder = find(name);
        if (holder) return holder;
      }
      insertCall.run(key, rail, payer, subjectHash, createdAt, requestOf(call), state, version, progressOf(call));
      for (const name of names) insertName.run(name, key);
      return undefined;
    },
    update(after: Call): void {
      const { key, state, version, bundle, attempts } = after;
      const { changes } = updateCall.run(
        state,
        version,
        isAtRest(after) ? 0 : 1,
        progressOf(after),
        bundle?.id ?? null,
        bundle?.body ?? null,
        key,
        version - 1,
      );
      if (changes !== 1) throw new Stale(key);
      const last = attempts.at(-1);
      if (!last) return;
      const { txid, raw, firstValid, lastValid, dead } = last;
      writeAttempt.run(txid, key, attempts.length - 1, raw, firstValid, lastValid, dead ? 1 : 0);
    },
    open(): Call[] {
      return openCalls.all().map(callOf);
    },
    openBut(held: readonly string[], limit: number): Call[] {
      return unheldCalls.all(JSON.stringify(held), limit).map(callOf);
    },
    exposure(rail: RailName, payer: string): number {
      return sumUnpaid.get(rail, payer)?.amount as number;
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
    appendKey,
    revocations(): KeyRevocation[] {
      return allRevocations.all().map((row) => ({ ...row }) as KeyRevocation);
    },
    appendRevocation,
    announced,
    announce({ record, attempt }: KeyAnnouncement): KeyAnnouncement {
      const { txid, raw, firstValid, lastValid } = attempt;
      insertAnnouncement.run(JSON.stringify(record), txid, raw, firstValid, lastValid);
      return announced() as KeyAnnouncement;
    },
    conclude(txid: string, outcome: "noted" | "dead"): void {
      const row = deleteAnnouncement.get(txid);
      if (!row || outcome === "dead") return;
      const record: KeyAnnouncement["record"] = JSON.parse(row.record as string);
      if (record.kind === "key") appendKey(record.entry);
      else appendRevocation(record);
    },
  };

  function appendRevocation({ kid, revokedRound }: KeyRevocation): void {
    insertRevocation.run(kid, revokedRound);
  }

  function appendKey(entry: KeyEntry): void {
    insertKey.run(entry.kid, JSON.stringify(entry));
  }

  function announced(): KeyAnnouncement | undefined {
    const row = readAnnouncement.get();
    if (!row) return undefined;
    const { record, ...attempt } = row;
    return { record: JSON.parse(record as string), attempt: attempt as KeyAnnouncement["attempt"] };
  }
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
      for (const held of locks) held.close();
      port.close();
    }
  });
}

if (parentPort) serve(parentPort, (workerData as { path: string }).path);
