import { Worker } from "node:worker_threads";
import type { Call } from "../call.ts";
import { type Identity, StaleCall, type Store } from "../store.ts";
import type { Reply, Request, SqliteCommands } from "./sqlite-worker.ts";

type Waiting = { resolve: (value: never) => void; reject: (error: Error) => void };

/**
 * A journal in one SQLite file: WAL, `synchronous=FULL`, locked to this process.
 *
 * The file is written by a worker, so that no fsync stands in the way of the event loop; what is handed in while a
 * commit runs becomes the next commit (sqlite-worker.ts).
 *
 * @param path of the database file, made when absent
 * @throws Error when the file cannot be opened, or another process has it open
 */
export async function openSqliteStore(path: string): Promise<Store> {
  const worker = new Worker(new URL("./sqlite-worker.ts", import.meta.url), { workerData: { path } });
  const waiting = new Map<number, Waiting>();
  let last = 0;
  let failure: Error | undefined;

  const fail = (error: Error) => {
    failure ??= error;
    for (const { reject } of waiting.values()) reject(failure);
    waiting.clear();
  };
  worker.on("message", ({ id, value, error }: Reply) => {
    const call = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) call?.resolve(value as never);
    else call?.reject(error.stale ? new StaleCall(error.message) : new Error(error.message));
  });
  worker.on("error", fail);
  worker.on("exit", () => fail(new Error("the journal is closed")));

  function ask<K extends keyof SqliteCommands>(
    command: K,
    ...args: Parameters<SqliteCommands[K]>
  ): Promise<ReturnType<SqliteCommands[K]>> {
    if (failure) return Promise.reject(failure);
    return new Promise((resolve, reject) => {
      const id = ++last;
      waiting.set(id, { resolve, reject });
      worker.postMessage({ id, command, args } satisfies Request);
    });
  }

  await ask("ready");
  return {
    claim: (identity: Identity) => ask("claim", identity),
    find: (key) => ask("find", key),
    insert: (call: Call) => ask("insert", call),
    update: (after) => ask("update", after),
    open: () => ask("open"),
    bundle: (id) => ask("bundle", id),
    rememberPayees: (payees) => ask("rememberPayees", payees),
    payees: () => ask("payees"),
    keys: () => ask("keys"),
    appendKey: (entry) => ask("appendKey", entry),
    async close() {
      if (failure) return;
      const exited = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
      worker.postMessage({ id: ++last, command: "close", args: [] } satisfies Request);
      await exited;
    },
  };
}
