import { isProofError } from "@attestd/proof";
import { ServiceError } from "../../errors.ts";
import type { Algod } from "../../providers/algod.ts";
import type { AlgorandNodes } from "../../providers/algorand-nodes.ts";
import { type ProviderError, unavailable } from "../../providers/provider.ts";
import { agree, ifAny, type Question, reportConflict } from "../../providers/quorum.ts";
import type { ChainReading, ProvedTransaction, SourceBlock, SourceError, TransactionInBlock } from "../chain.ts";
import type * as algorandWork from "./block-work.ts";
import type { AlgorandFinding, AlgorandHeaderFacts } from "./block-work.ts";
import { lightHeaderOf } from "./light-header.ts";

export type AlgorandReading = ChainReading<AlgorandNodes, typeof algorandWork>;

/** One node's block of a round, its header recomputed. */
type Seen = { kind: "block"; algod: Algod; answer: Uint8Array; facts: AlgorandHeaderFacts };
/** A node that has no block of the round yet, or does not keep it any more. */
type Unseen = { kind: "future" } | { kind: "unkept" };

/**
 * Reads the block of a round. The nodes agree on the header's hash (k of n): nothing that they serve proves consensus.
 *
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
    // A node that does not have the block contradicts none that has it.
    behind: ({ kind }, others) => kind !== "block" && others.some((other) => other.kind !== kind),
    signal,
  };
  const answers = await agree(nodes.algods, ask, question, nodes.rules);
  const [first] = answers;
  if (first.kind === "future") throw new ServiceError("block_not_found", `Algorand has no round ${round} yet`);
  if (first.kind === "unkept") {
    await requireUnkept(nodes, round, signal);
    throw new ServiceError("source_not_kept", `no node keeps ${about} any more`);
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

  /** The headers are the same, and so are the paysets that lead to them: takes the first one that does. */
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
 * Checks that every node answers, and that none keeps the block. A quorum without it does not show that: the one node that
 * keeps old blocks may be away.
 *
 * @throws ProviderError otherwise
 */
export async function requireUnkept(
  { algods, rules }: AlgorandNodes,
  round: number,
  signal: AbortSignal,
): Promise<void> {
  const ask = (algod: Algod, ends: AbortSignal) => algod.block(round, ends);
  const question = ifAny(`whether a node keeps the block of round ${round}`, () => "kept", signal);
  const [kept] = await agree(algods, ask, question, { ...rules, quorum: algods.length });
  if (kept) throw unavailable(`the block of round ${round} could not be read at first`);
}

/** The error for a transaction that is no leaf of its block. @param rootId of the transaction that contains it */
export function innerTransaction(txnId: string, rootId: string): SourceError {
  const message = `transaction ${txnId} is an inner transaction of ${rootId}`;
  return new ServiceError("source_inner_transaction", message, { details: { rootId } });
}

/** @throws ProviderError where the node's data cannot be decoded */
export async function asAnswerOf<T>(algod: Algod, decoded: Promise<T>): Promise<T> {
  try {
    return await decoded;
  } catch (error) {
    if (!isProofError(error, "malformed")) throw error;
    throw unavailable(`${algod.name} answered with data that cannot be read`, error);
  }
}
