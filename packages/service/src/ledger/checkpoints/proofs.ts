import { decodeMsgpackMap, encodeMsgpack, getMap } from "@attestd/proof/algorand";
import { type Checkpoint, type StateProofMessage, stateProofMessageOf } from "@attestd/proof/state-proof";
import { rebuildTransaction } from "../../chains/algorand/rebuild.ts";
import type { Algod } from "../../providers/algod.ts";
import type { IndexedTransaction, Indexer } from "../../providers/indexer.ts";
import { unavailable } from "../../providers/provider.ts";

/** A state proof and its message, unchecked. */
export type FoundProof = { message: StateProofMessage; stateProof: Uint8Array };

/** A source of state proofs. They are verified before they count. */
export type ProofSource = {
  /** Host and port. */
  name: string;
  /** Returns the last round that it claims to have. */
  lastRound(signal: AbortSignal): Promise<number>;
  /**
   * Returns the state proof of the rounds after a checkpoint.
   * @param interval the number of rounds that it should attest, if known
   * @returns undefined if it has none yet
   * @throws ProviderError
   */
  after(checkpoint: Checkpoint, interval: number | undefined, signal: AbortSignal): Promise<FoundProof | undefined>;
};

/**
 * Makes a source from algod, which gives the state proof that attests a round. For this it searches its blocks one by
 * one from that round on.
 */
export function algodProofs(algod: Algod): ProofSource {
  return {
    name: algod.name,
    lastRound: (signal) => algod.lastRound(signal),
    async after({ round }, interval = 1, signal) {
      // For a round that it lacks, algod only reports an unspecific error.
      if ((await algod.lastRound(signal)) < round + interval) return undefined;
      return algod.provenRounds(round + interval, signal);
    },
  };
}

/** `StateProofSender` (go-algorand, `data/transactions/stateproof.go`), which sends all state proof transactions. */
const SENDER = "XM6FEYVJ2XDU2IBH4OT6VZGW75YM63CM4TC6AV6BD3JZXFJUIICYTVB5EU";
/** Rounds per search: on MainNet they contain two or three state proofs, each with a megabyte of JSON. */
const WINDOW = 512;
/** The limit of answers per search, because anyone can send something to the sender. */
const MAX_ANSWERS = 256;
const MAX_KEPT = 64;
/** The limit of searches, about a day of rounds; state proofs come after some 400 rounds. */
const MAX_WINDOWS = 64;

/**
 * Makes a source from an indexer, which finds a state proof by its transaction. It searches by sender, because indexers
 * do not allow searching by type by default.
 */
export function indexerProofs(indexer: Indexer): ProofSource {
  /** Found proofs by their first attested round: one search finds several. */
  const kept = new Map<number, FoundProof>();

  async function search(from: number, signal: AbortSignal): Promise<number> {
    const rounds = { minRound: from, maxRound: from + WINDOW - 1 };
    let next: string | undefined;
    for (let answers = 0; answers < MAX_ANSWERS; answers++) {
      const page = await indexer.transactionsOf(SENDER, { ...rounds, next }, signal);
      for (const transaction of page.transactions) {
        const found = proofIn(transaction);
        if (found) kept.set(found.message.firstAttestedRound, found);
      }
      for (const first of [...kept.keys()].slice(0, -MAX_KEPT)) kept.delete(first);
      next = page.next;
      if (next === undefined || page.transactions.length === 0) return page.currentRound;
    }
    throw unavailable(`${indexer.name} lists more than ${MAX_ANSWERS} pages of transactions from round ${from}`);
  }

  return {
    name: indexer.name,
    lastRound: (signal) => indexer.currentRound(signal),
    async after({ round }, _interval, signal) {
      const first = round + 1;
      for (let from = first; from < first + MAX_WINDOWS * WINDOW; from += WINDOW) {
        const current = kept.has(first) ? 0 : await search(from, signal);
        const found = kept.get(first);
        if (found || current < from + WINDOW) return found;
      }
      throw unavailable(
        `${indexer.name} has no state proof of round ${first} in the ${MAX_WINDOWS * WINDOW} rounds after it`,
      );
    },
  };
}

/**
 * Returns the state proof that a transaction recorded; undefined if there is none, or it cannot be rebuilt from the
 * JSON.
 */
function proofIn(transaction: IndexedTransaction): FoundProof | undefined {
  if (transaction["tx-type"] !== "stpf") return undefined;
  const bytes = rebuildTransaction(transaction.id ?? "", transaction);
  if (bytes === undefined) return undefined;
  const map = decodeMsgpackMap(bytes);
  const [proof, message] = [getMap(map, "sp"), getMap(map, "spmsg")];
  return proof && message && { message: stateProofMessageOf(message), stateProof: encodeMsgpack(proof) };
}
