import { findInRound, proveInPayset, readAlgorandHeader } from "./algorand/block-work.ts";
import { encodeReceipts, proveItem, serializeTransactions } from "./base/block-work.ts";

/**
 * What reading a block costs in computing: functions of bytes and JSON alone, so that they can run on any thread. Blocks
 * hold thousands of transactions, whose hashing must not hold up the event loop. All throw ProofError `malformed` for data that are
 * not what they should be, and nothing else.
 */
const BLOCK_WORK = {
  readAlgorandHeader,
  findInRound,
  proveInPayset,
  serializeTransactions,
  proveItem,
  encodeReceipts,
};

type Work = typeof BLOCK_WORK;
export type BlockWorkName = keyof Work;

/** The same functions, wherever they run. */
export type BlockWork = {
  readonly [K in BlockWorkName]: (...args: Parameters<Work[K]>) => Promise<Awaited<ReturnType<Work[K]>>>;
};

/** The functions, each run by `run`. */
export function blockWork(run: (name: BlockWorkName, args: readonly unknown[]) => Promise<unknown>): BlockWork {
  const names = Object.keys(BLOCK_WORK) as BlockWorkName[];
  const functions = names.map((name) => [name, (...args: unknown[]) => run(name, args)]);
  return Object.fromEntries(functions) as BlockWork;
}

/** Runs one of them on the thread that calls. */
export async function runBlockWork(name: BlockWorkName, args: readonly unknown[]): Promise<unknown> {
  return (BLOCK_WORK[name] as (...args: readonly unknown[]) => unknown)(...args);
}
