import { DatabaseSync, type StatementSync } from "node:sqlite";
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import type { KeyEntry } from "@attestd/proof/trust";
import type { KeyAnnouncement, KeyRevocation } from "../../attestor/key-journal.ts";
import type { Identity } from "../../calls/journal.ts";
import type { RailName } from "../../payment/rails/rail.ts";
import { CALL, type FoundRow, type MovedRow, type NewRow } from "./rows.ts";
import { migrate } from "./schema.ts";

/*
 * The one thread that touches the file. Everything that has arrived is run in one transaction and answered after COMMIT:
 * a commit costs one fsync however many calls are in it.
 */

export type Request = { id: number; command: keyof SqliteCommands | "close"; args: unknown[] };
export type Reply = { id: number; value?: unknown; error?: { message: string; kind?: "stale" | "taken" | undefined } };
/** Of all that one commit was for. */
export type Replies = readonly Reply[];
export type SqliteCommands = ReturnType<typeof commands>;

const MOST_IN_A_COMMIT = 256;

/** What the caller has an error of its own for. */
class Refused extends Error {
  readonly kind: "stale" | "taken";

  constructor(kind: "stale" | "taken", key: string) {
    super(key);
    this.kind = kind;
  }
}

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

/** The statements of the journal; each runs inside the transaction of its batch. */
function commands(db: DatabaseSync) {
  const sql = (text: string): StatementSync => db.prepare(text);
  const findCall = sql(`SELECT ${CALL} FROM names JOIN calls ON calls.key = names.key WHERE name = ?`);
  const insertCall = sql(
    "INSERT INTO calls (key, rail, payer, subject_hash, created_at, request, evidence_hash, state, version, open, progress) VALUES (:key, :rail, :payer, :subjectHash, :createdAt, :request, :evidenceHash, :state, :version, TRUE, :progress)",
  );
  const insertEvidence = sql("INSERT INTO evidence (hash, content) VALUES (:hash, :content) ON CONFLICT DO NOTHING");
  const evidenceOf = sql("SELECT evidence_hash AS hash FROM calls WHERE key = ?");
  const leaveEvidence = sql("UPDATE calls SET evidence_hash = NULL WHERE key = ?");
  const dropEvidence = sql(
    "DELETE FROM evidence WHERE hash = :hash AND NOT EXISTS (SELECT 1 FROM calls WHERE evidence_hash = :hash)",
  );
  const insertName = sql("INSERT INTO names (name, key) VALUES (?, ?)");
  const updateCall = sql(
    "UPDATE calls SET state = :state, version = :version, progress = :progress WHERE key = :key AND version = :version - 1",
  );
  const endCall = sql("UPDATE calls SET open = :open, bundle_id = :bundleId, bundle = :bundle WHERE key = :key");
  const writeAttempt = sql(
    "INSERT INTO attempts (txid, key, place, raw, first_valid, last_valid, dead) VALUES (:txid, :key, :place, :raw, :firstValid, :lastValid, :dead) ON CONFLICT (txid) DO UPDATE SET dead = excluded.dead WHERE dead <> excluded.dead",
  );
  const openCalls = sql(`SELECT ${CALL} FROM calls WHERE open ORDER BY created_at`);
  const unheldCalls = sql(
    `SELECT ${CALL} FROM calls WHERE open AND key NOT IN (SELECT value FROM json_each(?)) ORDER BY created_at LIMIT ?`,
  );
  const sumUnpaid = sql(
    "SELECT coalesce(sum(CAST(request ->> '$.requirement.amount' AS INTEGER)), 0) AS amount FROM calls WHERE rail = ? AND payer = ? AND state IN ('prepared', 'settling')",
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

  const find = (key: string) => findCall.get(key) as FoundRow | undefined;

  return {
    ready(): void {},
    claim(identity: Identity): Identity {
      insertMeta.run("identity", JSON.stringify(identity));
      return JSON.parse(readMeta.get("identity")?.value as string);
    },
    find,
    /** @returns the earlier holder of one of the names; undefined when the call was inserted */
    insert({ row, names, evidence }: NewRow): FoundRow | undefined {
      for (const name of names) {
        const holder = find(name);
        if (holder) return holder;
      }
      if (evidence) insertEvidence.run(evidence);
      insertCall.run(row);
      for (const name of names) insertName.run(name, row.key);
      return undefined;
    },
    update({ row, ends, attempt, dropsEvidence, name }: MovedRow): void {
      if (updateCall.run(row).changes !== 1) throw new Refused("stale", row.key);
      if (name !== undefined) giveName(name, row.key);
      if (dropsEvidence) forgetEvidence(row.key);
      if (ends) endCall.run(ends);
      if (attempt) writeAttempt.run(attempt);
    },
    open(): FoundRow[] {
      return openCalls.all() as FoundRow[];
    },
    openBut(held: readonly string[], limit: number): FoundRow[] {
      return unheldCalls.all(JSON.stringify(held), limit) as FoundRow[];
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

  function giveName(name: string, key: string): void {
    const holder = find(name);
    if (!holder) insertName.run(name, key);
    else if (holder.key !== key) throw new Refused("taken", key);
  }

  function forgetEvidence(key: string): void {
    const hash = evidenceOf.get(key)?.hash as string | null;
    if (hash === null) return;
    leaveEvidence.run(key);
    dropEvidence.run({ hash });
  }

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

function runOne(run: SqliteCommands, { command, args }: Request): unknown {
  return (run[command as keyof SqliteCommands] as (...args: unknown[]) => unknown)(...args);
}

/**
 * Runs a batch in one transaction. One that fails takes no other with it: then the batch is run again with a savepoint
 * each, which costs a quarter of the time and is not needed otherwise.
 *
 * @throws Error when the commit itself failed
 */
function runBatch(db: DatabaseSync, run: SqliteCommands, batch: readonly Request[]): Reply[] {
  const apart = (request: Request): Reply => {
    db.exec("SAVEPOINT item");
    try {
      const value = runOne(run, request);
      db.exec("RELEASE item");
      return { id: request.id, value };
    } catch (error) {
      db.exec("ROLLBACK TO item; RELEASE item");
      const kind = error instanceof Refused ? error.kind : undefined;
      return { id: request.id, error: { message: (error as Error).message, kind } };
    }
  };
  let replies: Reply[];
  db.exec("BEGIN IMMEDIATE");
  try {
    replies = batch.map((request) => ({ id: request.id, value: runOne(run, request) }));
  } catch {
    if (db.isTransaction) db.exec("ROLLBACK");
    db.exec("BEGIN IMMEDIATE");
    replies = batch.map(apart);
  }
  db.exec("COMMIT");
  return replies;
}

/** Commands that write nothing, and so can be answered where nothing can be written. */
const READS: ReadonlySet<string> = new Set<keyof SqliteCommands>([
  "ready",
  "find",
  "open",
  "openBut",
  "exposure",
  "bundle",
  "payees",
  "keys",
  "revocations",
  "announced",
]);

/** What becomes of a request when the commit that it was in has failed, as on a full disk: what is there can be read. */
function aloneAfter({ message }: Error, run: SqliteCommands, request: Request): Reply {
  const { id } = request;
  if (!READS.has(request.command)) return { id, error: { message } };
  try {
    return { id, value: runOne(run, request) };
  } catch (error) {
    return { id, error: { message: (error as Error).message } };
  }
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
      port.postMessage(runBatch(db, run, work) satisfies Replies);
    } catch (error) {
      // The commit itself failed: nothing in the batch happened.
      if (db.isTransaction) db.exec("ROLLBACK");
      port.postMessage(work.map((request) => aloneAfter(error as Error, run, request)) satisfies Replies);
    }
    if (work.length < batch.length) {
      db.close();
      for (const held of locks) held.close();
      port.close();
    }
  });
}

if (parentPort) serve(parentPort, (workerData as { path: string }).path);
