import { isProofError } from "@attestd/proof";
import { ignoring, ServiceError } from "../../lib/errors.ts";
import type { Algod } from "../../providers/algod.ts";
import type { AlgorandNodes } from "../../providers/algorand-nodes.ts";
import { type ProviderError, unavailable } from "../../providers/provider.ts";
import { agree, hasLaggards, orEnded, type Question, quorumOf, reportConflict } from "../../providers/quorum.ts";
import type { ChainReading, ProvedTransaction, SourceBlock, SourceError, TransactionInBlock } from "../chain.ts";
import type { ChainOptions } from "../chain-kind.ts";
import type * as algorandWork from "./block-work.ts";
import type { AlgorandFinding, AlgorandHeaderFacts } from "./block-work.ts";
import { lightHeaderOf } from "./light-header.ts";

export type AlgorandReading = ChainReading<AlgorandNodes, typeof algorandWork> & Pick<ChainOptions, "readBlock">;

/** One node's block of a round, with its header recomputed. */
type Seen = { kind: "block"; algod: Algod; answer: Uint8Array; facts: AlgorandHeaderFacts };
/** A node without the block: the round is in the future, or the block has been discarded. */
type Unseen = { kind: "future" } | { kind: "unkept" };

/**
 * Reads the block of a round. The nodes agree on the header's hash (k of n), because nothing that they serve proves
 * consensus.
 * @throws SourceError block_not_found, source_wrong_chain; ProviderError
 */
export async function readAlgorandBlock(
  round: number,
  { nodes, caip2: configured, accepted, work }: AlgorandReading,
  signal: AbortSignal,
): Promise<SourceBlock> {
  const about = `the block of round ${round}`;
  const ask = async (algod: Algod, ends: AbortSignal): Promise<Seen | Unseen> => {
    if ((await algod.lastRound(ends)) < round) return { kind: "future" };
    const answer = await algod.block(round, ends);
    if (answer === undefined) return { kind: "unkept" };
    const facts = await asAnswerOf(algod, work.readAlgorandHeader(answer, round));
    return { kind: "block", algod, answer, facts };
  };
  const question: Question<Seen | Unseen> = {
    about,
    same: (answer) => (answer.kind === "block" ? answer.facts.blockHash : answer.kind),
    // A node without the block does not contradict one that has it.
    behind: ({ kind }, others) => kind !== "block" && others.some((other) => other.kind !== kind),
    signal,
  };
  // If nodes answer and no majority has the block, the others may have discarded it.
  const answers = await agree(nodes.algods, ask, question, nodes.rules).catch(ignoring(hasLaggards));
  const [first] = answers ?? [{ kind: "unkept" } as const];
  if (first.kind === "future") throw new ServiceError("block_not_found", `Algorand has no round ${round} yet`);
  if (!answers || first.kind === "unkept") {
    await requireUnkept(nodes, round, signal);
    throw new ServiceError("source_not_kept", `too few nodes keep ${about} to agree on it`);
  }

  const { facts } = first;
  const caip2 = facts.caip2 ?? configured;
  if (!accepted.has(caip2))
    throw new ServiceError("source_wrong_chain", `round ${round} belongs to ${caip2}, not ${configured}`);
  const seen = answers.filter((answer) => answer.kind === "block");
  return {
    chain: "algorand",
    caip2,
    height: round,
    blockHash: facts.blockHash,
    header: facts.header,
    level: "finalized",
    find: (txnId) => find(txnId),
  };

  async function find(txnId: string): Promise<TransactionInBlock | undefined> {
    const found = await proveInAny(txnId);
    if (found.kind === "flat") {
      const message = `round ${round} has no tree of transactions: its header commits to a plain list of them`;
      throw new ServiceError("source_unprovable", message);
    }
    if (found.kind === "inner") throw innerTransaction(txnId, found.rootId);
    return found.kind === "missing" ? undefined : { prove: (ends) => withLightHeader(found, ends) };
  }

  /**
   * Proves with the first node whose payset leads to the header. The headers are equal, so all such paysets are, too.
   */
  async function proveInAny(txnId: string): Promise<AlgorandFinding> {
    let fault: ProviderError | undefined;
    for (const { algod, answer } of seen) {
      try {
        return await work.proveInPayset(answer, txnId);
      } catch (error) {
        if (!isProofError(error, "malformed")) throw error;
        fault = reportConflict({ about, answers: [{ provider: algod.name, answer: error.message }] }, nodes.rules);
      }
    }
    throw fault ?? unavailable(`no node gave ${about}`);
  }

  async function withLightHeader(
    { bytes, inclusion }: Extract<AlgorandFinding, { kind: "transaction" }>,
    ends: AbortSignal,
  ): Promise<ProvedTransaction> {
    const lightHeader = await lightHeaderOf(nodes, { round, header: facts.header }, ends);
    return { bytes, inclusion: lightHeader ? { ...inclusion, lightHeader } : inclusion };
  }
}

/**
 * Checks that every node answers, has reached the round, and that too few keep its block to agree on it. A majority's
 * word is not enough, because the node that keeps old blocks may be away.
 * @throws ProviderError otherwise
 */
export async function requireUnkept(
  { algods, rules }: AlgorandNodes,
  round: number,
  signal: AbortSignal,
): Promise<void> {
  const about = `whether nodes keep the block of round ${round}`;
  const ask = async (algod: Algod) => (await algod.block(round, signal)) !== undefined;
  const kept = await orEnded(Promise.all(algods.map(ask)), about, signal);
  const keeping = kept.filter(Boolean).length;
  if (keeping >= quorumOf(algods.length, rules))
    throw unavailable(`the block of round ${round} could not be read at first`);
  if (keeping === 0) return;
  const others = algods.filter((_, index) => !kept[index]);
  const rounds = await orEnded(Promise.all(others.map((algod) => algod.lastRound(signal))), about, signal);
  const late = others.find((_, index) => (rounds[index] as number) < round);
  if (late) throw unavailable(`${late.name} has not reached round ${round}, which others have`);
}

/**
 * Makes the error for an inner transaction, which is not a leaf of its block. @param rootId the transaction that
 * contains it
 */
export function innerTransaction(txnId: string, rootId: string): SourceError {
  const message = `transaction ${txnId} is an inner transaction of ${rootId}`;
  return new ServiceError("source_inner_transaction", message, { details: { rootId } });
}

/** @throws ProviderError when the node's data cannot be decoded */
export async function asAnswerOf<T>(algod: Algod, decoded: Promise<T>): Promise<T> {
  try {
    return await decoded;
  } catch (error) {
    if (!isProofError(error, "malformed")) throw error;
    throw unavailable(`${algod.name} answered with data that cannot be read`, error);
  }
}
