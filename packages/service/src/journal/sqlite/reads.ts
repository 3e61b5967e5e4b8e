import { Worker } from "node:worker_threads";
import type { SqliteCommands } from "./commands.ts";

/** The commands that the worker runs. */
const READS = ["evidenceOf", "evidenceItemsOf", "bodyOf", "partsOf"] as const;
export type ReadCommand = (typeof READS)[number];

export type Read = { id: number; command: ReadCommand; args: unknown[] };
export type ReadReply = { id: number; value?: unknown; error?: string };

type Reads = {
  [K in ReadCommand]: (...args: Parameters<SqliteCommands[K]>) => Promise<ReturnType<SqliteCommands[K]>>;
};

/**
 * The commands that read what may be large, each run by a worker of its own (read-worker.ts), which begins with the first.
 *
 * @param path of the database file, which MUST be there
 */
export function createReads(path: string): Reads & AsyncDisposable {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let worker: Worker | undefined;
  let last = 0;
  let isClosed = false;

  function start(): Worker {
    const started = new Worker(new URL("./read-worker.ts", import.meta.url), { workerData: { path } });
    const fail = (error: Error) => {
      if (worker === started) worker = undefined;
      for (const { reject } of waiting.values()) reject(error);
      waiting.clear();
    };
    started.on("message", ({ id, value, error }: ReadReply) => {
      const asked = waiting.get(id);
      waiting.delete(id);
      if (error === undefined) asked?.resolve(value);
      else asked?.reject(new Error(error));
    });
    started.on("error", fail);
    started.on("exit", () => fail(new Error("the journal is closed")));
    return started;
  }

  const ask =
    (command: ReadCommand) =>
    (...args: unknown[]): Promise<unknown> => {
      if (isClosed) return Promise.reject(new Error("the journal is closed"));
      worker ??= start();
      const asked = Promise.withResolvers<unknown>();
      waiting.set(++last, asked);
      worker.postMessage({ id: last, command, args } satisfies Read);
      return asked.promise;
    };

  return {
    ...(Object.fromEntries(READS.map((command) => [command, ask(command)])) as unknown as Reads),
    async [Symbol.asyncDispose]() {
      isClosed = true;
      await Promise.allSettled([...waiting.values()].map(({ promise }) => promise));
      await worker?.terminate();
    },
  };
}
