import type { Block, EthereumRpc, Receipt, RpcHeader } from "../../providers/ethereum-rpc.ts";
import { orProviderError, type ProviderError, unavailable } from "../../providers/provider.ts";
import { type QuorumRules, reportConflict } from "../../providers/quorum.ts";
import type { ConfirmationLevel } from "../chain.ts";
import { readHeader, readLevels } from "./block.ts";

/** A transaction in a block of the canonical chain. `time` is from a header with the block's hash. */
export type Observation = { receipt: Receipt; time: number; level: ConfirmationLevel };
/** The latest block of a node that has no such transaction, and that block's time in Unix s. */
export type Absence = { upTo: number; timestamp: number };

/**
 * A block from one node. `time`: its header's, if that has the hash. `places`: the indexes of the wanted transactions,
 * by hash.
 */
type SeenBlock = { hash: string; time: number | ProviderError; places: ReadonlyMap<string, number> };

/** A node whose latest block is older than another's by more than this lags. */
const MAX_LAG_SECONDS = 60;
/** How many blocks the nodes behind one balancer may differ by: 10 s of blocks of 200 ms. */
const MAX_LAG_BLOCKS = 50;

export type NodeView = ReturnType<typeof viewOf>;

/**
 * One node's view of the transactions of one request. It reads its heads once, and the header of each block once.
 * @param wanted the hashes of all transactions of the request
 * @param signal ends every look
 */
export function viewOf(rpc: EthereumRpc, wanted: ReadonlySet<string>, rules: QuorumRules, signal: AbortSignal) {
  const { name } = rpc;
  const blocks = new Map<number, Promise<SeenBlock | ProviderError | undefined>>();
  let latest: Promise<Block> | undefined;
  let levels: ReturnType<typeof readLevels> | undefined;
  return { name, look };

  /**
   * Looks for some of the transactions.
   * @returns what the node shows about each, by its hash
   * @throws ProviderError when the node gives no usable answer about any of them; the signal's reason when that comes
   *   first
   */
  async function look(hashes: readonly string[]): Promise<Map<string, Observation | Absence | ProviderError>> {
    // Read before the receipts: a receipt that is then missing is in no block up to this one.
    latest ??= rpc.latest(signal);
    const { number: upTo, timestamp } = await latest;
    const receipts = await rpc.receipts(hashes, signal);
    const seen = new Map<string, Observation | Absence | ProviderError>();
    const found: [string, Receipt][] = [];
    for (const [index, hash] of hashes.entries()) {
      const receipt = receipts[index];
      if (receipt && !(receipt instanceof Error)) found.push([hash, receipt]);
      else seen.set(hash, receipt ?? { upTo, timestamp });
    }
    if (found.length === 0) return seen;

    levels ??= readLevels(rpc, signal);
    const levelOf = await levels;
    // Read after the heads: a block that is canonical now was so when a head had passed it.
    readBlocks(new Set(found.map(([, { blockNumber }]) => blockNumber)));
    for (const [hash, receipt] of found) {
      const { blockNumber } = receipt;
      seen.set(hash, sight(hash, receipt, levelOf(blockNumber), await blocks.get(blockNumber)));
    }
    return seen;
  }

  function sight(
    hash: string,
    receipt: Receipt,
    level: ConfirmationLevel,
    block: SeenBlock | ProviderError | undefined,
  ): Observation | ProviderError {
    const { blockNumber: number, blockHash, transactionHash, transactionIndex } = receipt;
    // The receipt came from another node behind the same balancer, and this one lags by some blocks of 200 ms.
    if (block === undefined) return unavailable(`${name} has a receipt of block ${number} and does not know the block`);
    if (block instanceof Error) return block;
    const { time, places } = block;
    if (transactionHash !== hash || block.hash !== blockHash || places.get(hash) !== transactionIndex) {
      const answers = [
        { provider: name, answer: `receipt of ${transactionHash} in block ${number} ${blockHash}` },
        { provider: name, answer: `block ${number} ${block.hash} without it there` },
      ];
      return reportConflict({ about: `transaction ${hash}`, answers }, rules);
    }
    return time instanceof Error ? time : { receipt, time, level };
  }

  function readBlocks(numbers: ReadonlySet<number>): void {
    const missing = [...numbers].filter((number) => !blocks.has(number));
    const headers = rpc.headers(missing, signal);
    for (const [index, number] of missing.entries()) {
      const block = headers.then((all) => readBlock(number, all[index]));
      // The callers that wait for it get the error.
      block.catch(() => undefined);
      blocks.set(number, block);
    }
  }

  function readBlock(
    number: number,
    json: RpcHeader | ProviderError | undefined,
  ): SeenBlock | ProviderError | undefined {
    if (json === undefined || json instanceof Error) return json;
    const there = [...json.transactions.entries()].filter(([, hash]) => wanted.has(hash));
    const places = new Map(there.map(([index, hash]) => [hash, index]));
    const time = orProviderError(() => readHeader({ provider: name, number }, json, rules).time);
    return { hash: json.hash, time, places };
  }
}

/** Describes an answer, for the vote. */
export function describe(answer: Observation | Absence): string {
  if (!("receipt" in answer)) return "in no block";
  const { blockNumber, blockHash, status } = answer.receipt;
  return `in block ${blockNumber} ${blockHash}, ${status === 1 ? "succeeded" : "failed"}`;
}

/** Whether an answer only shows that its node lags. */
export function isBehind(answer: Observation | Absence, others: readonly (Observation | Absence)[]): boolean {
  if ("receipt" in answer) return false;
  return others.some((other) =>
    "receipt" in other
      ? other.receipt.blockNumber > answer.upTo - MAX_LAG_BLOCKS
      : other.timestamp - answer.timestamp > MAX_LAG_SECONDS,
  );
}
