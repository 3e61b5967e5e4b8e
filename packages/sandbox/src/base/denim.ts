import { concatHex, type Hex, keccak256, numberToHex } from "viem";
import { serializeTransaction } from "viem/op-stack";
import { inTurn } from "../in-turn.ts";
import type { RpcCall } from "../jsonrpc.ts";

/** Time between Base's blocks since Denim, in milliseconds. */
export const DENIM_BLOCK_MS = 200;

/** The depositor of the L1 attributes; on Base also BaseTime's. */
const DEPOSITOR = "0xdeaddeaddeaddeaddeaddeaddeaddeaddead0001";
/** anvil 1.7.1 keeps one deposit per sender at a time: a second one is "replacement transaction underpriced". */
const BASE_TIME_DEPOSITOR = "0xdeaddeaddeaddeaddeaddeaddeaddeaddead0002";
const L1_BLOCK = "0x4200000000000000000000000000000000000015";
const BASE_TIME = "0x4200000000000000000000000000000000000030";
/** `setL1BlockValuesJovian()` and its 174 packed bytes: there is no L1, so all are zero. */
const L1_ATTRIBUTES: Hex = `0x3db6be2b${"00".repeat(174)}`;
/** `setTimestampMillisPart(uint16)`. */
const SET_MILLISECONDS = "0x86bdf394";

/**
 * Makes anvil's blocks like Base's since Denim: at times that are multiples of 200 ms, each beginning with two
 * deposits, the L1 attributes and BaseTime, which has the milliseconds that the header's whole seconds lack.
 *
 * Both are put into the pool immediately after the previous block, so that nothing can come before them. Their
 * contracts have no code here, which does not matter to a deposit.
 * @param anvil without a block time; it includes transactions in order of arrival
 */
export async function denimBlocks(anvil: RpcCall) {
  let slot = 0;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  const oneAtATime = inTurn();

  const begin = async () => {
    slot = Math.max(slot + 1, Math.ceil(Date.now() / DENIM_BLOCK_MS));
    for (const raw of depositsOf(slot * DENIM_BLOCK_MS)) await anvil("eth_sendRawTransaction", [raw]);
  };
  const mine = async () => {
    try {
      await anvil("evm_setNextBlockTimestamp", [Math.floor((slot * DENIM_BLOCK_MS) / 1000)]);
      return await anvil("evm_mine", []);
    } finally {
      await begin();
    }
  };
  /** Makes a block every 200 ms from now on, until disposal. A machine that is too slow skips blocks. */
  const run = () => {
    timer = setTimeout(
      async () => {
        // If anvil fails, the next block is tried; if it has ended, its owner stops this.
        await oneAtATime(mine).catch(() => undefined);
        if (!stopped) run();
      },
      Math.max(0, slot * DENIM_BLOCK_MS - Date.now()),
    );
  };

  await begin();
  return {
    /** anvil's JSON-RPC, in which a transaction is sent and `evm_mine` is called between blocks, never within one. */
    call(method: string, params: unknown): Promise<unknown> {
      if (method === "evm_mine") return oneAtATime(mine);
      return method.startsWith("eth_send") ? oneAtATime(() => anvil(method, params)) : anvil(method, params);
    },
    run,
    async [Symbol.asyncDispose]() {
      stopped = true;
      clearTimeout(timer);
      await oneAtATime(async () => undefined);
    },
  };
}

/** Returns the bytes of the two deposits of the block at that time, in Unix milliseconds. */
function depositsOf(timeMs: number): Hex[] {
  const time = numberToHex(timeMs, { size: 32 });
  const milliseconds = concatHex([SET_MILLISECONDS, numberToHex(timeMs % 1000, { size: 32 })]);
  const deposits = [
    { from: DEPOSITOR, to: L1_BLOCK, data: L1_ATTRIBUTES },
    { from: BASE_TIME_DEPOSITOR, to: BASE_TIME, data: milliseconds },
  ] as const;
  return deposits.map((deposit) => {
    const sourceHash = keccak256(concatHex([deposit.to, time]));
    return serializeTransaction({ type: "deposit", ...deposit, sourceHash, gas: 1_000_000n });
  });
}
