import { existsSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { concatBytes } from "@attestd/proof/encoding";
import {
  type CheckpointTable,
  checkpointAt,
  checkpointCount,
  checkpointEntry,
  checkpointTableHead,
  encodeCheckpointTable,
  firstCheckpoints,
  SHIPPED_CHECKPOINTS,
} from "@attestd/proof/evidence";
import type { Checkpoint } from "@attestd/proof/state-proof";
import { EXIT, type ExitCode, Failure, failsFor } from "../../failure.ts";
import { writeAtomically } from "../../files/files.ts";
import type { ChainOptions } from "../../options.ts";
import type { Environment } from "../../terminal/environment.ts";
import { namedNode } from "../../trust/chain-check.ts";
import { readCheckpointTable, readStart } from "../../trust/checkpoints.ts";

type SyncOptions = Pick<ChainOptions, "algod" | "algodTokenFile" | "indexer" | "indexerTokenFile"> & {
  from?: string;
  to?: number;
  json?: boolean;
};

/** Writing the table takes at most about one part in so many of the time. */
const SHARE = 20;

/**
 * Walks from the last checkpoint of a table to the newest, and writes each after the state proof before it was verified.
 *
 * @param path the table's file, which is created if it does not exist
 * @throws Failure `notVerified` when the node gives a state proof that does not verify; `unreachable` when it gives no usable
 *   state proof. The checkpoints that were verified before are saved
 */
export async function syncTable(path: string, options: SyncOptions, environment: Environment): Promise<ExitCode> {
  const { out } = environment;
  const start = await startOf(path, options.from);
  const { openCheckpointWalk } = await import("@attestd/service/checkpoints");
  const { ServiceError } = await import("@attestd/service/errors");
  const stop = environment.stop();
  using working = environment.working("asking the node");
  const file = await tableFile(path);
  let table = "entries" in start ? start : undefined;
  let last = table ? checkpointAt(table, checkpointCount(table) - 1) : (start as Checkpoint);
  const [from, { genesisHash }] = [last.round, last];
  try {
    await using walk = await openCheckpointWalk(await nodeOf(options), genesisHash, stop);
    const tip = await walk.lastRound();
    for await (const next of walk.checkpoints(last, { to: options.to, interval: table?.interval })) {
      table = added(table, last, next);
      last = next;
      await file.keep(table);
      working.show(`round ${next.round} of ${Math.min(tip, options.to ?? tip)}`);
    }
  } catch (error) {
    if (stop.aborted)
      throw new Failure(EXIT.interrupted, "interrupted", [`The next run continues from round ${last.round}.`]);
    if (!(error instanceof ServiceError)) throw error;
    const isUnsound = error.code === "proof_unsound";
    throw new Failure(
      isUnsound ? EXIT.notVerified : EXIT.unreachable,
      `${error.message}.`,
      [`Verified up to round ${last.round}. Ask another node, or this one again: the next run continues from there.`],
      error,
    );
  } finally {
    if (table && table !== start) await file.write(table);
  }
  if (table === undefined) {
    out.line(`no state proof follows round ${from} yet; nothing is saved`);
    return EXIT.good;
  }
  const head = checkpointTableHead(table);
  const count = (last.round - from) / table.interval;
  const title =
    count === 0 ? `${path} is up to date` : `${path}: ${count} state proofs verified, to round ${last.round}`;
  out.done(
    options.json,
    { file: path, verified: count, ...head, last },
    title,
    `${head.size} checkpoints, root ${head.root}`,
  );
  return EXIT.good;
}

/** @returns the table at `path` or, if there is no table yet, what `--from` names */
async function startOf(path: string, from: string | undefined): Promise<CheckpointTable | Checkpoint> {
  if (!existsSync(path)) {
    if (from !== undefined) return readStart(from);
    const shipped = Object.keys(SHIPPED_CHECKPOINTS).join(", ");
    throw new Failure(EXIT.usage, `${path} is not there, and a walk begins from a checkpoint that you trust`, [
      `Name one: --from c.json, or one that comes with attestd: ${shipped}.`,
    ]);
  }
  if (from === undefined) return readCheckpointTable(path);
  throw new Failure(EXIT.usage, `${path} is there already`, [
    "Leave --from out: the walk continues where the table ends.",
  ]);
}

async function nodeOf(options: SyncOptions) {
  const algod = await namedNode("algod", options.algod, options.algodTokenFile);
  const indexer = await namedNode("indexer", options.indexer, options.indexerTokenFile);
  if (algod) return { algod };
  if (indexer) return { indexer };
  throw new Failure(EXIT.usage, "state proofs come from a node or an indexer", [
    "Name one: --algod URL or --indexer URL.",
  ]);
}

function added(table: CheckpointTable | undefined, last: Checkpoint, next: Checkpoint): CheckpointTable {
  const { genesisHash, round } = last;
  const before = table ?? {
    genesisHash,
    firstRound: round,
    interval: next.round - round,
    entries: checkpointEntry(last),
  };
  return { ...before, entries: concatBytes(before.entries, checkpointEntry(next)) };
}

/** Writes the file of a table, which is always complete, also when this process is killed. */
async function tableFile(path: string) {
  const failure = failsFor(EXIT.unreadable, `write ${path}`, "folder", "Choose another file.");
  await removeDrafts(path);
  let due = 0;
  const write = async (table: CheckpointTable) => {
    const begun = performance.now();
    await writeAtomically(path, encodeCheckpointTable(table), 0o644).catch(failure);
    const ended = performance.now();
    due = ended + SHARE * (ended - begun);
  };
  return { write, keep: async (table: CheckpointTable) => (performance.now() < due ? undefined : write(table)) };
}

/** Removes the drafts of runs that were killed while they wrote. */
async function removeDrafts(path: string): Promise<void> {
  const names = await readdir(dirname(path)).catch(failsFor(EXIT.unreadable, `write ${path}`, "folder"));
  const drafts = names.filter(
    (name) => name.startsWith(`${basename(path)}.`) && /^\.[0-9a-f]{12}$/.test(name.slice(-13)),
  );
  for (const draft of drafts) await rm(join(dirname(path), draft), { force: true });
}

/** Prints a table's size, rounds and root; without a table, the checkpoints that come with attestd. */
export async function showTable(
  path: string | undefined,
  options: { size?: number; json?: boolean },
  { out }: Environment,
): Promise<ExitCode> {
  if (path === undefined) {
    for (const [name, { checkpoint, source }] of Object.entries(SHIPPED_CHECKPOINTS)) {
      if (options.json) out.json({ name, checkpoint, source });
      else for (const line of [name, `  round ${checkpoint.round}, from ${source}`]) out.line(line);
    }
    return EXIT.good;
  }
  const table = await tableOf(path, options);
  const head = checkpointTableHead(table);
  const last = checkpointAt(table, head.size - 1);
  out.done(
    options.json,
    { ...head, last: [last] },
    `${head.size} checkpoints, rounds ${head.firstRound} to ${last.round}, one every ${head.interval}`,
    `genesis ${head.genesisHash}`,
    `root ${head.root}`,
  );
  return EXIT.good;
}

/** Reads a table, or only its first checkpoints. @throws Failure */
async function tableOf(path: string, { size }: { size?: number }): Promise<CheckpointTable> {
  const table = await readCheckpointTable(path);
  if (size === undefined) return table;
  const count = checkpointCount(table);
  if (size >= 1 && size <= count) return firstCheckpoints(table, size);
  throw new Failure(EXIT.usage, `--size is 1 to ${count}`, [`${path} has ${count} checkpoints.`]);
}
