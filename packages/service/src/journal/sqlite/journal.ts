import { randomBytes } from "node:crypto";
import { stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { Worker } from "node:worker_threads";
import type { Logger } from "pino";
import type { Listener } from "../../calls/journal.ts";
import { isAtRest, isFinal } from "../../calls/machine.ts";
import { ServiceError } from "../../lib/errors.ts";
import { observe } from "../../observe/metrics/meter.ts";
import { type Ask, evidenceJournal } from "../evidence.ts";
import type { WholeJournal } from "../journal.ts";
import { callOf, evidenceIn, evidenceItemsIn } from "../record.ts";
import type { SqliteCommands } from "./commands.ts";
import { keepPrivate } from "./private-files.ts";
import { createReads } from "./reads.ts";
import { movedRow, newRow } from "./rows.ts";
import type { Replies, Reply, Request, Requests } from "./worker.ts";

/** The commands that are methods of the journal as they are. */
const OF_CALLS = ["claim", "open", "stored", "prunable", "prune", "copiedUntil", "markCopied"] as const;
const OF_REFUSED = ["rememberRefused", "refused"] as const;
const OF_PAYEES = ["rememberPayees", "payees"] as const;
const OF_KEYS = ["keys", "appendKey", "revocations", "appendRevocation", "announced", "announce", "conclude"] as const;

type AskedCommands = {
  [K in keyof SqliteCommands]: (...args: Parameters<SqliteCommands[K]>) => Promise<ReturnType<SqliteCommands[K]>>;
};

type Waiting = { resolve: (value: never) => void; reject: (error: Error) => void };

/** The name of the thread that writes, as the system lists it. */
export const THREAD = "journal";
/** Requests in a message: a commit has at most twice as many. */
const MAX_REQUESTS_PER_MESSAGE = 256;

/**
 * A journal in one SQLite file: WAL, `synchronous=FULL`. The file is locked to this process, which thus is the only
 * replica: its leases never run out, and are not written.
 *
 * A worker writes the file, so that an fsync does not block the event loop; what arrives during a commit becomes the next
 * commit (worker.ts). Another reads what may be large.
 *
 * @param path of the database file, made when absent
 * @param log of a file that others could read (private-files.ts)
 * @throws Error when the file cannot be opened, another process has it open, or a later release has written it
 */
export async function openSqliteJournal(path: string, log?: Pick<Logger, "warn">): Promise<WholeJournal> {
  const file = privateFile(path, log);
  const worker = new Worker(new URL("./worker.ts", import.meta.url), { name: THREAD, workerData: { path: file } });
  const waiting = new Map<number, Waiting>();
  const held = new Set<string>();
  const listeners = new Set<Listener>();
  /** The requests of this turn, which go to the worker as one message and thus into one commit. */
  let turn: Request[] = [];
  let last = 0;
  let failure: Error | undefined;

  const fail = (error: Error) => {
    failure ??= error;
    for (const { reject } of waiting.values()) reject(failure);
    waiting.clear();
  };
  worker.on("message", (message: Replies) => {
    if (message.seconds !== undefined) observe("transactionSeconds", {}, message.seconds);
    for (const { id, value, error } of message.replies) {
      const call = waiting.get(id);
      waiting.delete(id);
      if (error === undefined) call?.resolve(value as never);
      else call?.reject(errorOf(error));
    }
  });
  worker.on("error", fail);
  worker.on("exit", () => fail(new Error("the journal is closed")));

  function send(request: Request): void {
    if (turn.push(request) === 1) setImmediate(post);
    else if (turn.length === MAX_REQUESTS_PER_MESSAGE) post();
  }

  function post(): void {
    if (turn.length > 0) worker.postMessage(turn satisfies Requests);
    turn = [];
  }

  function ask<K extends keyof SqliteCommands>(
    command: K,
    ...args: Parameters<SqliteCommands[K]>
  ): Promise<ReturnType<SqliteCommands[K]>> {
    if (failure) return Promise.reject(failure);
    return new Promise((resolve, reject) => {
      const id = ++last;
      waiting.set(id, { resolve, reject });
      send({ id, command, args });
    });
  }

  /** Methods that ask for the commands of their names. */
  function asked<K extends keyof SqliteCommands>(names: readonly K[]): Pick<AskedCommands, K> {
    const entries = names.map((name) => [name, (...args: Parameters<SqliteCommands[K]>) => ask(name, ...args)]);
    return Object.fromEntries(entries);
  }

  // The file is this process's alone: what it lacked when it was opened it lacks, and a later loss ends in `journal_behind`.
  const mayLackSince = (await ask("copiedUntil")) === undefined ? undefined : Date.now();
  const reads = createReads(file);
  const own = asked([...OF_CALLS, ...OF_REFUSED, ...OF_PAYEES, ...OF_KEYS]);
  const askRows: Ask = (name, ...values) => ask("all", name, ...(values as string[])) as Promise<never[]>;
  return {
    ...own,
    ...evidenceJournal(askRows, { stored: own.stored, bodyOf: reads.bodyOf, partsOf: reads.partsOf }),
    mayLackSince: () => mayLackSince,
    secret: async () => Uint8Array.fromHex(await ask("secret", randomBytes(32).toString("hex"))),
    async find(key) {
      const row = await ask("find", key);
      return row && callOf(row);
    },
    async look(key, sha256) {
      const known = await ask("look", key, sha256);
      return known && { head: known.head, ...(known.row && { call: callOf(known.row) }) };
    },
    expect: async () => ({ end: () => undefined }),
    isExpectedElsewhere: async () => false,
    async insert(call) {
      const holder = await ask("insert", newRow(call));
      if (holder) return callOf(holder);
      held.add(call.key);
      return call;
    },
    async update(after) {
      await ask("update", movedRow(after));
      if (isAtRest(after)) held.delete(after.key);
      if (!isFinal(after.state)) return;
      for (const listener of listeners) listener.ended?.(after.key);
    },
    evidenceOf: async (key) => evidenceIn(await reads.evidenceOf(key)),
    evidenceItemsOf: async (...asked) => evidenceItemsIn(await reads.evidenceItemsOf(...asked)),
    bodyOf: reads.bodyOf,
    partsOf: reads.partsOf,
    async lease(limit) {
      const calls = await ask("openBut", [...held], limit);
      for (const { key } of calls) held.add(key);
      return calls;
    },
    async exposure(rail, payer) {
      return BigInt(await ask("exposure", rail, payer));
    },
    holds: (key) => held.has(key),
    renew: () => Promise.resolve([]),
    async release() {
      held.clear();
      for (const listener of listeners) listener.freed?.();
    },
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    others: () => Promise.resolve(0),
    collects: () => Promise.resolve(true),
    async freeBytes() {
      const { bavail, bsize } = await statfs(dirname(file), { bigint: true });
      return bavail * bsize;
    },
    async sizeBytes() {
      const sizes = await Promise.all([file, `${file}-wal`].map((path) => stat(path).catch(() => undefined)));
      return sizes.reduce((sum, found) => sum + (found?.size ?? 0), 0);
    },
    async close() {
      await reads[Symbol.asyncDispose]();
      if (failure) return;
      const exited = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
      send({ id: ++last, command: "close", args: [] });
      await exited;
    },
  };
}

function errorOf({ message, code }: Exclude<Reply["error"], undefined>): Error {
  return code === undefined ? new Error(message) : new ServiceError(code, message);
}

/** @throws Error that names the file */
function privateFile(path: string, log: Pick<Logger, "warn"> = { warn: () => undefined }): string {
  try {
    return keepPrivate(path, log);
  } catch (error) {
    throw new Error(`${path}: ${(error as Error).message}`);
  }
}
