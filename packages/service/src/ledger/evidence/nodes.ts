import { hash } from "node:crypto";
import { decodeMsgpackMap, getInteger, splitRawBlock } from "@attestd/proof/algorand";
import { fromBase64 } from "@attestd/proof/encoding";
import {
  type Checkpoint,
  checkpointAfter,
  checkpointInHeader,
  stateProofTracking,
} from "@attestd/proof/state-proof/messages";
import { digestsOf } from "../../chains/algorand/light-header.ts";
import { ignoring } from "../../lib/errors.ts";
import type { Algod } from "../../providers/algod.ts";
import { isUnusable, unavailable } from "../../providers/provider.ts";
import type { KeptStateProof } from "./journal.ts";
import type { Included } from "./work.ts";

/* What nodes serve of evidence, unchecked. */

/**
 * Asks one after the other, until one gives what is right.
 *
 * @param ask returns undefined where there is nothing
 * @returns the answer, or what is wrong with those that came
 * @throws ProviderError when none is right, and one gives no answer
 */
export async function fromAny<S, T extends object>(
  sources: readonly S[],
  ask: (source: S) => Promise<T | "wrong" | undefined>,
  ends: AbortSignal,
): Promise<T | "wrong" | "forgotten"> {
  let worst: "wrong" | "forgotten" = "forgotten";
  let failure: unknown;
  for (const source of sources) {
    try {
      const answer = await ask(source);
      if (typeof answer === "object") return answer;
      if (answer === "wrong") worst = answer;
    } catch (error) {
      if (ends.aborted || !isUnusable(error)) throw error;
      failure ??= error;
    }
  }
  if (failure !== undefined) throw failure;
  return worst;
}

/**
 * The way from the header of a round to the commitment of a state proof, from the first node that gives one which leads there.
 *
 * @param leads whether siblings do
 * @throws as `fromAny`
 */
export function lightPathFrom(
  algods: readonly Algod[],
  round: number,
  leads: (siblings: Uint8Array[]) => boolean | Promise<boolean>,
  ends: AbortSignal,
): Promise<Uint8Array[] | "wrong" | "forgotten"> {
  const ask = async (algod: Algod) => {
    const path = await algod.lightHeader(round, ends);
    const siblings = path && digestsOf(path.siblings);
    return siblings && !(await leads(siblings)) ? "wrong" : siblings;
  };
  return fromAny(algods, ask, ends);
}

/** A state proof without the checkpoint that it rests on; `content` is its canonical msgpack. */
export type ServedStateProof = Omit<KeptStateProof, "checkpoint"> & { content: Uint8Array };

/** The state proof that attests a round; undefined while the node has none, and once it has forgotten it. */
export async function stateProofFrom(
  algod: Algod,
  round: number,
  signal: AbortSignal,
): Promise<ServedStateProof | undefined> {
  const served = await algod.provenRounds(round, signal);
  if (served === undefined) return undefined;
  const { message, stateProof: content } = served;
  return { message, content, sha256: hash("sha256", content) };
}

/** A block, `{block, cert}` in msgpack; undefined where the node has forgotten it. @throws ProviderError also while it does not have the round yet */
async function blockFrom(algod: Algod, round: number, signal: AbortSignal): Promise<Uint8Array | undefined> {
  const block = await algod.block(round, signal);
  if (block === undefined && (await algod.lastRound(signal)) < round)
    throw unavailable(`${algod.name} does not have round ${round} yet`);
  return block;
}

/**
 * What a round's block shows: the block is asked for from one source after the other, until one shows all.
 *
 * @param sources nodes, and the block, `{block, cert}` in msgpack, where it was read already
 * @param include returns what a block shows
 * @returns of the block that shows the most; undefined when no node keeps it
 * @throws ProviderError when no block came, and a node gives no answer
 */
export async function mostShown(
  sources: readonly (Algod | Uint8Array | undefined)[],
  round: number,
  include: (block: Uint8Array) => Promise<Included>,
  ends: AbortSignal,
): Promise<Included | undefined> {
  let most: { included: Included; count: number } | undefined;
  const ask = async (source: Algod | Uint8Array | undefined) => {
    const block = source && "block" in source ? await blockFrom(source, round, ends) : source;
    if (block === undefined) return undefined;
    const included = await include(block);
    const count = included.found.filter(Boolean).length;
    if (most === undefined || count > most.count) most = { included, count };
    return count === included.found.length ? included : "wrong";
  };
  const isEnough = (error: unknown) => most !== undefined && !ends.aborted && isUnusable(error);
  await fromAny(sources, ask, ends).catch(ignoring(isEnough));
  return most?.included;
}

/**
 * The checkpoint before a round: what the message before says of the voters, or, before the network's first state proof, the
 * header before.
 *
 * @param genesisHash base64, 32 bytes
 * @returns undefined where the node has forgotten both
 * @throws ProviderError when it gives no answer, or a header that names no voters
 */
export async function checkpointFrom(
  algod: Algod,
  first: number,
  genesisHash: string,
  signal: AbortSignal,
): Promise<Checkpoint | undefined> {
  const before = await algod.provenRounds(first - 1, signal);
  if (before !== undefined) return checkpointAfter(fromBase64(genesisHash), before.message);
  const block = await algod.block(first - 1, signal);
  const checkpoint = block && algod.decode(() => checkpointInHeader(splitRawBlock(block).header));
  if (block && !checkpoint) throw unavailable(`${algod.name} gave a header of round ${first - 1} without voters`);
  return checkpoint;
}

/**
 * The round up to which a header says that is proven next: when a later header names another one, the state proof of that
 * round is made. 0 on a network that makes none.
 *
 * @param header msgpack of the header map
 */
export function provenNext(header: Uint8Array): number {
  return Number(getInteger(stateProofTracking(decodeMsgpackMap(header)), "n"));
}
