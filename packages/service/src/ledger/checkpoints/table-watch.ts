import { stat } from "node:fs/promises";
import { ProofError } from "@attestd/proof/errors";
import type { Evidence, PublishedCheckpoints } from "@attestd/proof/evidence";
import type { Logger } from "pino";
import { systemClock } from "../../lib/clock.ts";
import { createBulkhead } from "../../lib/workers/bulkhead.ts";
import { createWorkerPool } from "../../lib/workers/pool.ts";

export type TableWatchOptions = {
  /** The table's file, which `attestd checkpoints sync` updates; undefined if there is none. */
  path: string | undefined;
  /** The ledger's genesis hash, base64. */
  genesisHash: string;
  /** ms. */
  now: () => number;
  log: Logger;
};

/**
 * The bulkhead for paths to a table's root. Each path hashes the whole table: for MainNet's, a thread needs a second.
 */
const PATHS = { maxActive: 1, maxWaiting: 16, perSecond: 4, refusal: "Too many paths are being computed." };
/** How long a check of the file remains valid, in ms. */
const LOOK_MS = 1_000;

export type TableWatch = ReturnType<typeof watchTable>;

/**
 * Watches a checkpoint table's file, which another process replaces. It is read and hashed in a thread of its own when
 * it is first needed and when it has changed. A file that is not a table, or belongs to another network, is logged, and
 * the previous table stays.
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
    // The file does not exist yet.
    if (found === undefined) return;
    const { ino, size, mtimeMs } = found;
    const state = `${ino} ${size} ${mtimeMs}`;
    if (state === seen) return;
    const read = await (pool.run("load", [file]) as Promise<PublishedCheckpoints>).catch((error: unknown) => {
      // A wrong file stays wrong until it is written again; any other error may pass.
      if (error instanceof ProofError) seen = state;
      throw error;
    });
    seen = state;
    if (read.genesisHash !== genesisHash) throw new Error(`it belongs to the network with genesis ${read.genesisHash}`);
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
    /** Returns what is published about the table; undefined while there is none. */
    current,
    /**
     * Adds the path to the root of the table's first `size` checkpoints to evidence; undefined if there is none.
     * @throws Problem `over_capacity`
     */
    rest: (evidence: Evidence, size: number) =>
      paths.run(async () => (await current()) && ((await pool.run("rest", [evidence, size])) as Evidence | undefined)),
    close: () => pool.close(),
  };
}
