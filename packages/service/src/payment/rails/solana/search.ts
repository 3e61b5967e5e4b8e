import { DecodeError } from "@attestd/proof/encoding";
import { LRUCache } from "lru-cache";
import { unavailable } from "../../../providers/provider.ts";
import type { ListedTransaction, Outcome, SolanaRpc } from "../../../providers/solana-rpc.ts";
import { memoOf } from "./layout.ts";
import { messageBytesOf, messageHash, type TransferTransaction } from "./transaction.ts";

/** What one node shows of a transaction. */
export type Sight =
  | {
      kind: "absent";
      /** The newest slots when the search began. */
      finalized: number;
      processed: number;
      /** Whether a transaction with its blockhash may still land. */
      valid: boolean;
    }
  | {
      /** `failed`: executed, paid for by its fee payer, and without effect. It cannot land again. */
      kind: "moved" | "failed";
      signature: string;
      slot: number;
      /** In a slot that can no longer be replaced. */
      final: boolean;
    };

/** Slots that a blockhash surely lives no longer than: it lives for 150 blocks, and some slots have none. */
const LIFE_SLOTS = 1_000;
/** A payment is looked for several times a second, mostly while it is among its payer's newest: a page is 300 KB. */
const FIRST_PAGE = 50;
const PAGE = 1_000;
const MOST_LISTED = 10_000;
/**
 * Transactions that are asked for in one look, each in a request of its own. What was compared is remembered, so that the
 * next look goes on behind it: who fills an account delays the looks for its payments, and never stops them.
 */
const MOST_COMPARED = 100;
/** What stands for the message of a transaction of a form that no payment has: it is the hash of none. */
const ANOTHER_FORM = "";
/** Slots by which the newest one is at least ahead of a finalized one: so many votes stand on it. */
const SLOTS_ABOVE_FINAL = 31;
/** Some 5 MB for each node. */
const MOST_REMEMBERED = 2 * MOST_LISTED;

/** Looks for payments with one node. */
export class SolanaSearch {
  readonly name: string;
  readonly #rpc: SolanaRpc;
  /**
   * Hashes of the messages of transactions that were taken apart, by signature, which is of one message for ever. A payer
   * without memos may have more transactions than can be asked for within one look: the next goes on where it ended.
   */
  readonly #messages = new LRUCache<string, string>({ max: MOST_REMEMBERED });
  /** By the message's hash, the newest slot at which its blockhash was seen to be valid. */
  readonly #validAt = new LRUCache<string, number>({ max: MOST_REMEMBERED });
  /** The newest slot in any answer: of several nodes behind one URL, others may be behind it. */
  #newest = 0;

  constructor(rpc: SolanaRpc) {
    this.name = rpc.name;
    this.#rpc = rpc;
  }

  /**
   * Looks for a transaction among those that name the payer's token account: its own id, the fee payer's signature, is
   * not known before it lands. A transaction that cannot be read, of whatever version, is another one.
   *
   * One URL may be of several nodes, each of them as far as it is. So every question names the slot that the answers
   * before it came from, and a node which is not there yet refuses to answer.
   *
   * @throws ProviderError when it cannot be told
   */
  async look(wanted: TransferTransaction, signal: AbortSignal): Promise<Sight> {
    const rpc = this.#rpc;
    const message = messageHash(wanted.messageBytes);
    const blockhash = wanted.message.lifetimeToken;
    // Before the search: what it then does not find is in no slot up to the finalized one.
    const [finalized] = await Promise.all([
      rpc.isBlockhashValid(blockhash, { commitment: "finalized" }, signal),
      rpc.checkHealth(signal),
    ]);
    const minSlot = finalized.slot + SLOTS_ABOVE_FINAL;
    const processed = await rpc.isBlockhashValid(blockhash, { commitment: "processed", minSlot }, signal);
    this.#newest = Math.max(this.#newest, processed.slot);
    const valid = finalized.valid || processed.valid;
    if (valid) this.#validAt.set(message, finalized.slot);
    const since = (this.#validAt.get(message) ?? 0) - LIFE_SLOTS;
    const landed = await this.#find(wanted, { message, since, upTo: finalized.slot }, signal);
    return landed ?? { kind: "absent", finalized: finalized.slot, processed: this.#newest, valid };
  }

  /** @returns undefined when no slot from `since` to `upTo` holds it */
  async #find(
    wanted: TransferTransaction,
    { message, since, upTo }: { message: string; since: number; upTo: number },
    signal: AbortSignal,
  ): Promise<Sight | undefined> {
    const account = wanted.transfer.source;
    const memo = memoOf(wanted);
    let last: ListedTransaction | undefined;
    let compared = 0;
    for (let seen = 0, limit = FIRST_PAGE; seen < MOST_LISTED; seen += limit, limit = PAGE) {
      // A node that does not know the last one of the page before would list nothing, as if there were no more.
      const minSlot = Math.max(upTo, last?.slot ?? 0);
      const listed = await this.#rpc.transactionsOf(account, { before: last?.signature, limit, minSlot }, signal);
      for (const entry of listed) {
        if (entry.slot < since) return undefined;
        const isAnother = (this.#messages.get(entry.signature) ?? message) !== message;
        if (isAnother || !mayHave(memo, entry)) continue;
        if (compared++ === MOST_COMPARED)
          throw unavailable(`${account} has more transactions on ${this.name} than are compared at once`);
        const sight = await this.#compare(wanted, message, entry, signal);
        if (sight) return sight;
      }
      if (listed.length < limit) return undefined;
      last = listed.at(-1);
    }
    throw unavailable(`${this.name} lists more than ${MOST_LISTED} transactions of ${account}`);
  }

  async #compare(
    wanted: TransferTransaction,
    message: string,
    { signature, confirmationStatus }: ListedTransaction,
    signal: AbortSignal,
  ): Promise<Sight | undefined> {
    const landed = await this.#rpc.transaction(signature, signal);
    if (!landed) throw unavailable(`${this.name} lists transaction ${signature} and does not have it`);
    // By its bytes alone: what else a stranger's transaction holds need not be understood.
    const bytes = landed === "of_newer_version" ? undefined : messageBytesOf(landed.transaction);
    const found = bytes ? messageHash(bytes) : ANOTHER_FORM;
    this.#messages.set(signature, found);
    if (landed === "of_newer_version" || found !== message) return undefined;
    const outcome = this.#rpc.outcome(landed);
    const kind = outcome.err === null ? "moved" : "failed";
    this.#rpc.decode(() => {
      if (kind === "moved" && received(wanted, outcome) !== wanted.transfer.amount)
        throw new DecodeError("a transfer that succeeded and did not move its amount");
    });
    return { kind, signature, slot: landed.slot, final: confirmationStatus === "finalized" };
  }
}

/** By the memo, which the stock client makes unique; nodes that keep none leave it to the comparison. */
function mayHave(wanted: string | undefined, { memo }: ListedTransaction): boolean {
  return typeof memo !== "string" || (wanted !== undefined && memo.includes(wanted));
}

/** By how much the balance of the transfer's destination grew. */
function received({ message, transfer }: TransferTransaction, outcome: Outcome): bigint {
  const place = message.staticAccounts.indexOf(transfer.destination);
  const [before, after] = [outcome.preTokenBalances, outcome.postTokenBalances].map((balances) =>
    balances.find(({ accountIndex, mint }) => accountIndex === place && mint === transfer.mint),
  );
  return (after?.uiTokenAmount.amount ?? 0n) - (before?.uiTokenAmount.amount ?? 0n);
}

/** The facts of which nodes have to say the same. */
export function describe(sight: Sight): string {
  return sight.kind === "absent" ? "absent" : `${sight.kind} in ${sight.signature}, slot ${sight.slot}`;
}

/** Whether the one node may not have come to the slot in which the other saw the transaction land. */
export function isBefore(absent: Sight, landed: Sight): boolean {
  return absent.kind === "absent" && landed.kind !== "absent" && absent.finalized < landed.slot;
}
