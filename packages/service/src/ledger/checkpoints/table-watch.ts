import { stat } from "node:fs/promises";
import { ProofError } from "@attestd/proof/errors";
import type { Evidence, PublishedCheckpoints } from "@attestd/proof/evidence";
import type { Logger } from "pino";
import { systemClock } from "../../clock.ts";
import { createBulkhead } from "../../workers/bulkhead.ts";
import { createWorkerPool } from "../../workers/pool.ts";

export type TableWatchOptions = {
  /** The file of the table, which `attestd checkpoints sync` keeps up to date; undefined: there is none. */
  path: string | undefined;
  /** Of the ledger, base64. */
  genesisHash: string;
  /** Milliseconds. */
  now: () => number;
  log: Logger;
};

/** Paths to the root of a table of checkpoints: each hashes all of it, which takes a second of a thread where it is MainNet's. */
const PATHS = { maxActive: 1, maxWaiting: 16, perSecond: 4, refusal: "Too many paths are being computed." };
/** How long what was seen of the file is good, in ms. */
const LOOK_MS = 1_000;

export type TableWatch = ReturnType<typeof watchTable>;

/**
 * Watches the file of a table of checkpoints, which another process replaces. It is read and hashed in a thread of its own when
 * it is first asked for and when it has changed. A file that is no table, or of another network, is logged, and what was read
 * before stays.
 */
export function watchTable({ path, genesisHash, now, log }: TableWatchOptions) {
  const pool = createWorkerPool(new URL("./table-worker.ts", import.meta.url), { maxWorkers: 1, background: true });
  const paths = createBulkhead({ ...PATHS, clock: systemClock });
  let published: PublishedCheckpoints | undefined;
  let seen = "";
  let lookedAt = Number.NEGATIVE_INFINITY;
  let looking: Promise<void> | undefined;

  async function look(file: string): Promise<void> {
    const found = await stat(file, { throwIfNoEntry: false });
    // No walk has been made yet.
    if (found === undefined) return;
    const { ino, size, mtimeMs } = found;
    const state = `${ino} ${size} ${mtimeMs}`;
    if (state === seen) return;
    const read = await (pool.run("load", [file]) as Promise<PublishedCheckpoints>).catch((error: unknown) => {
      // What another process has written stays wrong until it is written again; anything else may pass.
      if (error instanceof ProofError) seen = state;
      throw error;
    });
    seen = state;
    if (read.genesisHash !== genesisHash) throw new Error(`it is of the network of genesis ${read.genesisHash}`);
    published = read;
    log.info({ size: read.size, root: read.root }, "table of checkpoints read");
  }

  async function current(): Promise<PublishedCheckpoints | undefined> {
    if (path === undefined) return undefined;
    if (now() - lookedAt >= LOOK_MS) {
      looking ??= look(path)
        .catch((err: unknown) => log.warn({ err }, "the table of checkpoints cannot be read"))
        .finally(() => {
          lookedAt = now();
          looking = undefined;
        });
    }
    await looking;
    return published;
  }

  return {
    /** What is published of the table; undefined while there is none. */
    current,
    /**
     * Evidence with the path to the root of the table's first `size` checkpoints; undefined where there is none.
     *
     * @throws Problem `over_capacity`
     */
    rest: (evidence: Evidence, size: number) =>
      paths.run(async () => (await current()) && ((await pool.run("rest", [evidence, size])) as Evidence | undefined)),
    close: () => pool.close(),
  };
}
