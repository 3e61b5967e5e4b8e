import { DecodeError } from "@attestd/proof/encoding";
import { unavailable } from "../../providers/provider.ts";
import type { LandedTransaction, ListedTransaction, SolanaRpc } from "../../providers/solana.ts";
import { solanaKit } from "./solana-kit.ts";
import { memoOf, messageHash, type TransferTransaction } from "./solana-transaction.ts";

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
/** Some 5 MB for each node. */
const MOST_REMEMBERED = 2 * MOST_LISTED;

/** Lets go of its oldest entry when there are too many. */
class Memory<Value> {
  readonly #entries = new Map<string, Value>();

  get(key: string): Value | undefined {
    return this.#entries.get(key);
  }

  set(key: string, value: Value): void {
    this.#entries.set(key, value);
    if (this.#entries.size <= MOST_REMEMBERED) return;
    const [oldest] = this.#entries.keys();
    this.#entries.delete(oldest as string);
  }
}

/** Looks for payments with one node. */
export class SolanaSearch {
  readonly name: string;
  readonly #rpc: SolanaRpc;
  /**
   * Hashes of the messages of transactions that were taken apart, by signature, which is of one message for ever. A payer
   * without memos may have more transactions than can be asked for within one look: the next goes on where it ended.
   */
  readonly #messages = new Memory<string>();
  /** By the message's hash, the newest slot at which its blockhash was seen to be valid. */
  readonly #validAt = new Memory<number>();

  constructor(rpc: SolanaRpc) {
    this.name = rpc.name;
    this.#rpc = rpc;
  }

  /**
   * Looks for a transaction among those that name the payer's token account: its own id, the fee payer's signature, is
   * not known before it lands.
   *
   * @throws ProviderError when it cannot be told
   */
  async look(wanted: TransferTransaction, signal: AbortSignal): Promise<Sight> {
    const rpc = this.#rpc;
    const message = messageHash(wanted.messageBytes);
    const blockhash = wanted.message.lifetimeToken;
    // Before the search: what it then does not find is in no slot up to the finalized one.
    const [finalized, processed] = await Promise.all([
      rpc.isBlockhashValid(blockhash, "finalized", signal),
      rpc.isBlockhashValid(blockhash, "processed", signal),
      rpc.checkHealth(signal),
    ]);
    const valid = finalized.valid || processed.valid;
    if (valid) this.#validAt.set(message, finalized.slot);
    const since = (this.#validAt.get(message) ?? 0) - LIFE_SLOTS;
    const landed = await this.#find(wanted, message, since, signal);
    return landed ?? { kind: "absent", finalized: finalized.slot, processed: processed.slot, valid };
  }

  async #find(
    wanted: TransferTransaction,
    message: string,
    since: number,
    signal: AbortSignal,
  ): Promise<Sight | undefined> {
    const account = wanted.transfer.source;
    const memo = memoOf(wanted);
    let before: string | undefined;
    for (let seen = 0, limit = FIRST_PAGE; seen < MOST_LISTED; seen += limit, limit = PAGE) {
      const listed = await this.#rpc.transactionsOf(account, { before, limit }, signal);
      for (const entry of listed) {
        if (entry.slot < since) return undefined;
        const isAnother = (this.#messages.get(entry.signature) ?? message) !== message;
        if (isAnother || !mayHave(memo, entry)) continue;
        const sight = await this.#compare(wanted, message, entry, signal);
        if (sight) return sight;
      }
      if (listed.length < limit) return undefined;
      before = listed.at(-1)?.signature;
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
    return this.#rpc.decode(() => {
      const { messageBytes } = solanaKit().getTransactionDecoder().decode(landed.transaction);
      const found = messageHash(new Uint8Array(messageBytes));
      this.#messages.set(signature, found);
      if (found !== message) return undefined;
      const kind = landed.meta.err === null ? "moved" : "failed";
      if (kind === "moved" && received(wanted, landed) !== wanted.transfer.amount)
        throw new DecodeError("a transfer that succeeded and did not move its amount");
      return { kind, signature, slot: landed.slot, final: confirmationStatus === "finalized" };
    });
  }
}

/** By the memo, which the stock client makes unique; nodes that keep none leave it to the comparison. */
function mayHave(wanted: string | undefined, { memo }: ListedTransaction): boolean {
  return typeof memo !== "string" || (wanted !== undefined && memo.includes(wanted));
}

/** By how much the balance of the transfer's destination grew. */
function received({ message, transfer }: TransferTransaction, { meta }: LandedTransaction): bigint {
  const place = message.staticAccounts.indexOf(transfer.destination);
  const [before, after] = [meta.preTokenBalances, meta.postTokenBalances].map((balances) =>
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
