import { asAnswerOf } from "../chains/algorand/block.ts";
import { blockWork, type RunWork } from "../chains/block-work.ts";
import type { Algod } from "../providers/algod.ts";
import { unavailable } from "../providers/provider.ts";
import type { RoundFacts } from "./round-work.ts";
import * as roundWork from "./round-work.ts";

/** One round by one node: `{block, cert}` in msgpack, and what it shows. */
export type RoundRead = RoundFacts & { answer: Uint8Array };

/** The module of what is done with a round's block, for `RunWork`. */
export const ROUND_WORK = new URL("./round-work.ts", import.meta.url);
/** Some 500 transactions: reading them takes as long as sending a block to another thread. */
const MAX_BYTES_HERE = 200 * 1024;

/** Waits until the node has the round. @returns the node's latest. @throws ProviderError when none came within its minute */
export async function hasRound(algod: Algod, round: number, signal: AbortSignal): Promise<number> {
  const latest = await algod.waitForBlockAfter(round - 1, signal);
  if (latest < round) throw unavailable(`${algod.name} has had no round since ${latest}`);
  return latest;
}

/**
 * Reads a round whole.
 *
 * @param run where a large block is taken apart; here unless given
 * @throws ProviderError also when it is not of the network of that genesis (base64)
 */
export async function readRound(
  algod: Algod,
  round: number,
  genesisHash: string,
  signal: AbortSignal,
  run?: RunWork,
): Promise<RoundRead> {
  // Without a block at first, another node was faster.
  const later = () => hasRound(algod, round, signal).then(() => algod.block(round, signal));
  const answer = (await algod.block(round, signal)) ?? (await later());
  if (answer === undefined) throw unavailable(`${algod.name} does not keep round ${round}`);
  const { readBlock } = blockWork(roundWork, answer.length > MAX_BYTES_HERE ? run : undefined);
  return { ...(await asAnswerOf(algod, readBlock(answer, round, genesisHash))), answer };
}
