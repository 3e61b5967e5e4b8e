import { proveInPayset, readAlgorandHeader } from "./algorand-block.ts";
import { encodeReceipts, proveItem, serializeTransactions } from "./base-block.ts";

/**
 * What reading a block costs in computing: functions of bytes and JSON alone, so that they can run on any thread. Blocks
 * hold thousands of transactions, whose hashing must not hold up the event loop. All throw DecodeError for data that are
 * not what they should be, and nothing else.
 */
export const BLOCK_WORK = {
  readAlgorandHeader,
  proveInPayset,
  serializeTransactions,
  proveItem,
  encodeReceipts,
};

type Work = typeof BLOCK_WORK;

/** The same functions, wherever they run. `BLOCK_WORK` itself runs them on the thread that calls. */
export type BlockWork = {
  readonly [K in keyof Work]: (
    ...args: Parameters<Work[K]>
  ) => Awaited<ReturnType<Work[K]>> | Promise<Awaited<ReturnType<Work[K]>>>;
};
