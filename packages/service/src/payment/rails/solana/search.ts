import { ProofError } from "@attestd/proof";
import { LRUCache } from "lru-cache";
import { unavailable } from "../../../providers/provider.ts";
import type { ListedTransaction, SolanaRpc } from "../../../providers/solana-rpc.ts";
import { messageBytesOf } from "../../../providers/solana-wire.ts";
import { memoOf } from "./layout.ts";
import { growth } from "./token-account.ts";
import { messageHash, type TransferTransaction } from "./transaction.ts";

/** What one node shows about a transaction. */
export type Observation =
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

/** An upper bound of a blockhash's lifetime in slots: it is valid for 150 blocks, and some slots have no block. */
const LIFE_SLOTS = 1_000;
/**
 * The size of the first page. It is small, because a payment is searched several times a second, mostly while it is
 * new, and 1000 entries are 300 KB.
 */
const FIRST_PAGE = 50;
const PAGE = 1_000;
const MAX_LISTED = 10_000;
/**
 * The limit of transactions that one search requests. The next search continues after them, because they are
 * remembered: a payer that fills its account delays the searches for its payments, but cannot stop them.
 */
const MAX_COMPARED = 100;
/** Stands for the message hash of a transaction whose form no payment has. */
const ANOTHER_FORM = "";
/** The least number of slots between a finalized slot and the newest one. */
const SLOTS_ABOVE_FINAL = 31;
/** Some 5 MB per node. */
const MAX_REMEMBERED = 2 * MAX_LISTED;

/** The search for payments on one node. */
export function solanaSearch(rpc: SolanaRpc) {
  const { name } = rpc;
  /** Message hashes of compared transactions, by signature. */
  const messages = new LRUCache<string, string>({ max: MAX_REMEMBERED });
  /** By message hash, the newest slot at which the message's blockhash was seen to be valid. */
  const validAt = new LRUCache<string, number>({ max: MAX_REMEMBERED });
  /** The newest slot in any answer. Of several nodes behind one URL, some may lag behind it. */
  let newest = 0;

  return { name, look };

  /**
   * Looks for a transaction among those that name the payer's token account, because its id, the fee payer's signature,
   * is unknown before it lands. A transaction that cannot be read is never the wanted one.
   *
   * Several nodes may be behind one URL, some of them lagging. So every query names the slot of the earlier answers,
   * and a node that has not reached it refuses to answer.
   * @throws ProviderError
   */
  async function look(wanted: TransferTransaction, signal: AbortSignal): Promise<Observation> {
    const message = messageHash(wanted.messageBytes);
    const blockhash = wanted.message.lifetimeToken;
    // Read before the search: a transaction that is then not found is in no slot up to the finalized one.
    const [finalized] = await Promise.all([
      rpc.isBlockhashValid(blockhash, { commitment: "finalized" }, signal),
      rpc.checkHealth(signal),
    ]);
    const minSlot = finalized.slot + SLOTS_ABOVE_FINAL;
    const processed = await rpc.isBlockhashValid(blockhash, { commitment: "processed", minSlot }, signal);
    newest = Math.max(newest, processed.slot);
    const valid = finalized.valid || processed.valid;
    if (valid) validAt.set(message, finalized.slot);
    const since = (validAt.get(message) ?? 0) - LIFE_SLOTS;
    const landed = await find(since, finalized.slot);
    return landed ?? { kind: "absent", finalized: finalized.slot, processed: newest, valid };

    /** @returns undefined when it is in no slot from `since` to `upTo` */
    async function find(since: number, upTo: number): Promise<Observation | undefined> {
      const account = wanted.transfer.source;
      const memo = memoOf(wanted);
      let last: ListedTransaction | undefined;
      let compared = 0;
      for (let seen = 0, limit = FIRST_PAGE; seen < MAX_LISTED; seen += limit, limit = PAGE) {
        // `minSlot`, because a node without the previous page's last transaction would list nothing, as at the end.
        const minSlot = Math.max(upTo, last?.slot ?? 0);
        const listed = await rpc.transactionsOf(account, { before: last?.signature, limit, minSlot }, signal);
        for (const entry of listed) {
          if (entry.slot < since) return undefined;
          const isAnother = (messages.get(entry.signature) ?? message) !== message;
          if (isAnother || !mayHave(memo, entry)) continue;
          if (compared++ === MAX_COMPARED)
            throw unavailable(`${account} has more transactions on ${name} than are compared at once`);
          const observation = await compare(entry);
          if (observation) return observation;
        }
        if (listed.length < limit) return undefined;
        last = listed.at(-1);
      }
      throw unavailable(`${name} lists more than ${MAX_LISTED} transactions of ${account}`);
    }

    /** @returns undefined when the listed transaction is another one */
    async function compare({ signature, confirmationStatus }: ListedTransaction): Promise<Observation | undefined> {
      const landed = await rpc.transaction(signature, signal);
      if (!landed) throw unavailable(`${name} lists transaction ${signature} and does not have it`);
      // Only the bytes are compared: another sender's transaction need not be readable.
      const bytes = landed === "of_newer_version" ? undefined : messageBytesOf(landed.transaction);
      const found = bytes ? messageHash(bytes) : ANOTHER_FORM;
      messages.set(signature, found);
      if (landed === "of_newer_version" || found !== message) return undefined;
      const outcome = rpc.outcome(landed);
      const kind = outcome.err === null ? "moved" : "failed";
      rpc.decode(() => {
        const { destination, mint, amount } = wanted.transfer;
        const place = wanted.message.staticAccounts.indexOf(destination);
        if (kind === "moved" && growth(outcome, place, mint) !== amount)
          throw new ProofError("malformed", "a transfer that succeeded and did not move its amount");
      });
      return { kind, signature, slot: landed.slot, final: confirmationStatus === "finalized" };
    }
  }
}

/**
 * Whether a listed transaction may have the wanted memo; the stock client makes memos unique. Some nodes keep no memos.
 */
function mayHave(wanted: string | undefined, { memo }: ListedTransaction): boolean {
  return typeof memo !== "string" || (wanted !== undefined && memo.includes(wanted));
}

/** Describes the facts on which nodes must agree. */
export function describe(observation: Observation): string {
  return observation.kind === "absent"
    ? "absent"
    : `${observation.kind} in ${observation.signature}, slot ${observation.slot}`;
}

/** Whether one node may not have reached the slot in which the other saw the transaction land. */
export function isBefore(absent: Observation, landed: Observation): boolean {
  return absent.kind === "absent" && landed.kind !== "absent" && absent.finalized < landed.slot;
}
