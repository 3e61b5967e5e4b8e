import type { MsgpackMap } from "@attestd/proof/algorand";
import type { Algod, TransactionParams } from "./algod.ts";
import type { IndexedTransaction, Indexer } from "./indexer.ts";
import { unavailable } from "./provider.ts";
import { agreeOnQuantity } from "./quantity.ts";
import { agree, type Question, type QuorumRules } from "./quorum.ts";

/** The nodes of one Algorand network. */
export type AlgorandNodes = {
  algods: readonly Algod[];
  indexers: readonly Indexer[];
  rules: QuorumRules;
};

/**
 * Returns the parameters for making a transaction, from one answer of each node. They are agreed, because a fee or a
 * network name that one node makes up would keep a transaction from being accepted.
 * @throws ProviderError when too few nodes answer, or do not agree on the network's name and consensus version
 */
export async function agreedParams(
  { algods, rules }: Pick<AlgorandNodes, "rules"> & { algods: readonly Pick<Algod, "name" | "params">[] },
  signal: AbortSignal,
): Promise<TransactionParams> {
  const about = "transaction parameters";
  const asked = new Map(algods.map((algod) => [algod, algod.params(signal)]));
  const ask = (algod: Pick<Algod, "name">) => asked.get(algod as Algod) as Promise<TransactionParams>;
  const quantity = <T extends number | bigint>(of: (params: TransactionParams) => T) =>
    agreeOnQuantity(algods, async (algod) => of(await ask(algod)), { about, signal }, rules);
  const same = ({ genesisId, consensus }: TransactionParams) => `${genesisId} ${consensus}`;
  const [[{ genesisId, consensus }], lastRound, minFee, feePerByte] = await Promise.all([
    agree(algods, ask, { about, same, signal }, rules),
    quantity((params) => params.lastRound),
    quantity((params) => params.minFee),
    quantity((params) => params.feePerByte),
  ]);
  return { genesisId, consensus, lastRound, minFee, feePerByte };
}

/** A transaction and the round in which it is confirmed. */
export type Location = {
  round: number;
  /** `{txn, sig?, …}` from algod, while it remembers the transaction. */
  signed?: MsgpackMap;
  /** The indexer's record, when algod no longer remembers the transaction. */
  record?: IndexedTransaction;
};

/** A node's statement that a transaction is in no round after `after` up to `upTo`, inclusive. */
export type Absence = { after: number; upTo: number };
type Observation = Location | Absence;
/** Describes further facts of a location as text. @throws ProviderError when it lacks them */
export type FactsOf = (location: Location) => string;

/** The number of rounds for which algod remembers a transaction (consensus parameter MaxTxnLife). */
export const ALGOD_REMEMBERS = 1_000;
/** The number of rounds that a node may be behind another and still count as caught up. */
const MAX_LAG = 10;

/**
 * Finds the round of a transaction. algod knows the latest 1000 rounds, an indexer all but the very latest; together
 * they can show that it is in none.
 * @param factsOf what the nodes must agree on besides the round: the transaction's id proves nothing else about a
 *   location
 * @returns undefined when caught-up nodes of both kinds agree that no round up to now has it
 * @throws ProviderError when the nodes cannot answer, or contradict one another
 */
export async function locate(
  nodes: AlgorandNodes,
  txid: string,
  signal: AbortSignal,
  factsOf?: FactsOf,
): Promise<Location | undefined> {
  const question = about(txid, signal, factsOf);
  const [recent] = await agree<Algod, Observation>(nodes.algods, lookInAlgod(txid), question, nodes.rules);
  return "round" in recent ? recent : locateOlder(nodes, txid, recent, signal, factsOf);
}

/**
 * Finds the round of a transaction that is in none of the recent rounds.
 * @param recent the rounds that are known not to have it
 * @returns undefined when caught-up indexers agree that no earlier round has it either
 * @throws ProviderError as `locate` does
 */
export async function locateOlder(
  nodes: AlgorandNodes,
  txid: string,
  recent: Absence,
  signal: AbortSignal,
  factsOf?: FactsOf,
): Promise<Location | undefined> {
  const older = await lookInIndexers(nodes, txid, signal, factsOf);
  if ("round" in older) return older;
  if (older.upTo < recent.after)
    throw unavailable(
      `no indexer knows the rounds from ${older.upTo + 1} to ${recent.after}, where transaction ${txid} may be`,
    );
  return undefined;
}

/** Asks the indexers alone, whose absence says nothing about the newest rounds. @throws ProviderError as `locate` does */
export async function lookInIndexers(
  nodes: AlgorandNodes,
  txid: string,
  signal: AbortSignal,
  factsOf?: FactsOf,
): Promise<Observation> {
  const question = about(txid, signal, factsOf);
  const [observed] = await agree<Indexer, Observation>(nodes.indexers, lookInIndexer(txid), question, nodes.rules);
  return observed;
}

function about(txid: string, signal: AbortSignal, factsOf: FactsOf = () => ""): Question<Observation> {
  const same = (observation: Observation) =>
    "round" in observation ? `in round ${observation.round}${factsOf(observation)}` : "in no round";
  return { about: `transaction ${txid}`, same, behind: contradictsNone, signal };
}

function lookInAlgod(txid: string) {
  return async (algod: Algod, signal: AbortSignal): Promise<Observation> => {
    // Read before the look-up: a transaction that is then not found is in no round up to this one.
    const upTo = await algod.lastRound(signal);
    const { round, signed } = (await algod.pending(txid, signal)) ?? {};
    if (round === undefined) return { after: Math.max(0, upTo - ALGOD_REMEMBERS), upTo };
    return { round, ...(signed && { signed }) };
  };
}

function lookInIndexer(txid: string) {
  return async (indexer: Indexer, signal: AbortSignal): Promise<Observation> => {
    const { currentRound, transaction } = await indexer.transaction(txid, signal);
    if (transaction === undefined) return { after: 0, upTo: currentRound };
    const round = transaction["confirmed-round"];
    if (round === undefined) throw unavailable(`${indexer.name} names no round of transaction ${txid}`);
    return { round, record: transaction };
  };
}

/** Whether an answer contradicts no other: an absence contradicts only a location in one of its rounds. */
function contradictsNone(answer: Observation, others: readonly Observation[]): boolean {
  if ("round" in answer) return false;
  return others.some((other) => ("round" in other ? !covers(answer, other.round) : answer.upTo + MAX_LAG < other.upTo));
}

function covers({ after, upTo }: Absence, round: number): boolean {
  return after < round && round <= upTo;
}
