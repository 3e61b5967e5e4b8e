import { asAnswerOf } from "../chains/algorand/block.ts";
import { blockWork, type RunWork } from "../chains/block-work.ts";
import type { Algod } from "../providers/algod.ts";
import { unavailable } from "../providers/provider.ts";
import type { RoundFacts } from "./round-work.ts";
import * as roundWork from "./round-work.ts";

/** A round from one node: `{block, cert}` in msgpack, and what it shows. */
export type RoundRead = RoundFacts & { answer: Uint8Array };

/** The module that processes a round's block, for `RunWork`. */
export const ROUND_WORK = new URL("./round-work.ts", import.meta.url);
/**
 * The size up to which a block is processed on this thread: at some 500 transactions this takes as long as sending it
 * to another thread.
 */
const MAX_BYTES_HERE = 200 * 1024;

/**
 * Waits until the node has the round. @returns the node's latest round. @throws ProviderError when none came within its
 * minute
 */
export async function hasRound(algod: Algod, round: number, signal: AbortSignal): Promise<number> {
  const latest = await algod.waitForBlockAfter(round - 1, signal);
  if (latest < round) throw unavailable(`${algod.name} has had no round since ${latest}`);
  return latest;
}

/**
 * Reads a round.
 * @param run where a large block is processed; default: here
 * @throws ProviderError also when it does not belong to the network of that genesis (base64)
 */
export async function readRound(
  algod: Algod,
  round: number,
  genesisHash: string,
  signal: AbortSignal,
  run?: RunWork,
): Promise<RoundRead> {
  // Not the block at first: by then another node may have given it.
  const later = () => hasRound(algod, round, signal).then(() => algod.block(round, signal));
  const answer = (await algod.block(round, signal)) ?? (await later());
  if (answer === undefined) throw unavailable(`${algod.name} does not keep round ${round}`);
  const { readBlock } = blockWork(roundWork, answer.length > MAX_BYTES_HERE ? run : undefined);
  return { ...(await asAnswerOf(algod, readBlock(answer, round, genesisHash))), answer };
}
