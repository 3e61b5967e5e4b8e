import { DecodeError, equalBytes } from "@attestd/proof/encoding";
import { unavailable } from "../../providers/provider.ts";
import type { LandedTransaction, ListedTransaction, SolanaRpc } from "../../providers/solana.ts";
import { solanaKit } from "./solana-kit.ts";
import { memoOf, type TransferTransaction } from "./solana-transaction.ts";

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
 * Looks for a transaction among those that name the payer's token account: its own id, the fee payer's signature, is not
 * known before it lands.
 *
 * @throws ProviderError when it cannot be told
 */
export async function look(rpc: SolanaRpc, wanted: TransferTransaction, signal: AbortSignal): Promise<Sight> {
  const blockhash = wanted.message.lifetimeToken;
  // Before the search: what it then does not find is in no slot up to the finalized one.
  const [finalized, processed] = await Promise.all([
    rpc.isBlockhashValid(blockhash, "finalized", signal),
    rpc.isBlockhashValid(blockhash, "processed", signal),
    rpc.checkHealth(signal),
  ]);
  const valid = finalized.valid || processed.valid;
  const landed = await find(rpc, wanted, valid ? finalized.slot - LIFE_SLOTS : 0, signal);
  return landed ?? { kind: "absent", finalized: finalized.slot, processed: processed.slot, valid };
}

async function find(
  rpc: SolanaRpc,
  wanted: TransferTransaction,
  since: number,
  signal: AbortSignal,
): Promise<Sight | undefined> {
  const account = wanted.transfer.source;
  let before: string | undefined;
  for (let seen = 0, limit = FIRST_PAGE; seen < MOST_LISTED; seen += limit, limit = PAGE) {
    const listed = await rpc.transactionsOf(account, { before, limit }, signal);
    for (const entry of listed) {
      if (entry.slot < since) return undefined;
      const sight = mayBe(wanted, entry) && (await compare(rpc, wanted, entry, signal));
      if (sight) return sight;
    }
    if (listed.length < limit) return undefined;
    before = listed.at(-1)?.signature;
  }
  throw unavailable(`${rpc.name} lists more than ${MOST_LISTED} transactions of ${account}`);
}

/** By the memo, which the stock client makes unique; nodes that keep none leave it to the comparison. */
function mayBe(wanted: TransferTransaction, { memo }: ListedTransaction): boolean {
  return typeof memo !== "string" || memo.includes(memoOf(wanted) ?? "");
}

async function compare(
  rpc: SolanaRpc,
  wanted: TransferTransaction,
  { signature, confirmationStatus }: ListedTransaction,
  signal: AbortSignal,
): Promise<Sight | undefined> {
  const landed = await rpc.transaction(signature, signal);
  if (!landed) throw unavailable(`${rpc.name} lists transaction ${signature} and does not have it`);
  return rpc.decode(() => {
    const { messageBytes } = solanaKit().getTransactionDecoder().decode(landed.transaction);
    if (!equalBytes(new Uint8Array(messageBytes), wanted.messageBytes)) return undefined;
    const kind = landed.meta.err === null ? "moved" : "failed";
    if (kind === "moved" && received(wanted, landed) !== wanted.transfer.amount)
      throw new DecodeError("a transfer that succeeded and did not move its amount");
    return { kind, signature, slot: landed.slot, final: confirmationStatus === "finalized" };
  });
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
