import { hash } from "node:crypto";
import { toBase64 } from "@attestd/proof/encoding";
import type { Address } from "@solana/kit";
import type { Clock } from "../../../lib/clock.ts";
import { hasCode } from "../../../lib/errors.ts";
import { type Ask, answersOf, fewAtOnce, type Span } from "../../../providers/reading.ts";
import type {
  Commitment,
  LandedTransaction,
  ListedTransaction,
  Outcome,
  SolanaNodes,
  SolanaRpc,
} from "../../../providers/solana-rpc.ts";
import type { ChainPayment, PaymentReader } from "../payment-reader.ts";
import { growth, usdcAccountOf } from "./token-account.ts";
import {
  accountsOf as accountsNamedIn,
  messageHash,
  readTransaction,
  type TransferTransaction,
} from "./transaction.ts";
import { SOLANA } from "./usdc.ts";

/** The limit of a node's list. */
const MAX_PAGE = 1_000;
/** Twice the real number: a start that is too early only costs a page. */
const SLOTS_A_SECOND = 5;
/** A blockhash that no block has: a node that is asked about it answers with its slot. */
const NO_BLOCKHASH = "1".repeat(32);
/** Stands for the payer of a transaction whose version is not read. */
const OF_NEWER_VERSION = "a transaction of a newer version";

/** A payee, and its USDC token account. */
type Account = { owner: string; address: Address };

/**
 * Reads payments on the Solana rail: every transaction that names a payee's token account, newest first.
 * @param page transactions that are listed at once
 */
export function solanaReader(
  { rpcs, rules }: SolanaNodes,
  clock: Pick<Clock, "now">,
  ask: Ask,
  page = MAX_PAGE,
): PaymentReader {
  const asking = { rules, ask };
  return {
    async heads() {
      const slotAt = async (commitment: Commitment) => {
        const read = async (rpc: SolanaRpc, ends: AbortSignal) =>
          (await rpc.isBlockhashValid(NO_BLOCKHASH, { commitment }, ends)).slot;
        return Math.min(...(await answersOf(rpcs, read, { about: "the newest slot" }, asking)));
      };
      const [latest, final] = await Promise.all([slotAt("confirmed"), slotAt("finalized")]);
      return { latest, final };
    },

    async heightAt(time, latest) {
      const seconds = Math.max(0, clock.now() / 1000 - time);
      return Math.max(0, latest - Math.ceil(seconds * SLOTS_A_SECOND));
    },

    async *payments(owners, span) {
      for (const account of accountsOf(owners)) {
        for await (const listed of pages(account, span)) {
          const payments = await fewAtOnce(listed, ({ signature, slot }) => paymentsIn(signature, [account], slot));
          yield* payments.flat();
        }
      }
    },

    inTransaction: (id, owners) => paymentsIn(id, accountsOf(owners)),
  };

  /** Yields the transactions that name the account within the span, each page as the quorum lists it. */
  async function* pages({ address }: Account, { from, to }: Span): AsyncGenerator<ListedTransaction[]> {
    let before: string | undefined;
    for (;;) {
      const read = (rpc: SolanaRpc, signal: AbortSignal) => listUpTo(rpc, address, { slot: to, before, page }, signal);
      const about = `the transactions of ${address}`;
      const [listed] = await answersOf(rpcs, read, { about, same: signaturesOf }, asking);
      yield listed.filter(({ slot }) => slot >= from);
      const last = listed.at(-1);
      if (!last || listed.length < page || last.slot < from) return;
      before = last.signature;
    }
  }

  /**
   * @param slot in which it is listed as naming the accounts; if given, the transaction is reported even when it cannot
   *   be read
   */
  async function paymentsIn(signature: string, accounts: readonly Account[], slot?: number): Promise<ChainPayment[]> {
    const read = async (rpc: SolanaRpc, signal: AbortSignal) => {
      const landed = await rpc.transaction(signature, signal);
      if (!landed) return [];
      if (landed === "of_newer_version")
        return slot === undefined ? [] : accounts.map((account) => keyless(signature, slot, OF_NEWER_VERSION, account));
      const outcome = rpc.outcome(landed);
      if (outcome.err !== null) return [];
      return accounts.flatMap((account) => toPayment(signature, landed, outcome, account) ?? []);
    };
    const about = `the transfers to us in transaction ${signature}`;
    const same = (payments: readonly ChainPayment[]) =>
      payments.map(({ key, amount, height }) => `${key} ${amount} ${height}`).join();
    const [payments] = await answersOf(rpcs, read, { about, same }, asking);
    return payments;
  }
}

/**
 * Lists a page of transactions up to a slot. Newer ones are skipped, so that nodes with different heads answer alike.
 */
async function listUpTo(
  rpc: SolanaRpc,
  account: string,
  { slot, before, page }: { slot: number; before: string | undefined; page: number },
  signal: AbortSignal,
): Promise<ListedTransaction[]> {
  const listed: ListedTransaction[] = [];
  let minSlot = slot;
  for (let cursor = before; listed.length < page; ) {
    const answer = await rpc.transactionsOf(account, { before: cursor, limit: page, minSlot }, signal);
    listed.push(...answer.filter((entry) => entry.slot <= slot));
    cursor = answer.at(-1)?.signature;
    // A node that does not know the last transaction yet would list nothing, as if there were no more.
    minSlot = Math.max(slot, answer.at(-1)?.slot ?? 0);
    if (answer.length < page || cursor === undefined) break;
  }
  return listed.slice(0, page);
}

function signaturesOf(page: readonly ListedTransaction[]): string {
  return hash("sha256", page.map(({ signature, slot }) => `${signature} ${slot}`).join());
}

function accountsOf(owners: readonly string[]): Account[] {
  return owners.map((owner) => {
    const address = usdcAccountOf(owner);
    if (address === undefined) throw new TypeError(`${owner} is no Solana address`);
    return { owner, address };
  });
}

/** Makes a payment without a key from a transfer: it never pays for a call. */
function keyless(signature: string, slot: number, payer: string, { owner }: Account): ChainPayment {
  return { rail: "solana", aliases: [], transaction: signature, height: slot, payer, payTo: owner, relayed: false };
}

/** @returns undefined when the account receives nothing */
function toPayment(
  signature: string,
  landed: LandedTransaction,
  outcome: Outcome,
  account: Account,
): ChainPayment | undefined {
  const named = accountsNamedIn(landed.transaction);
  if (named === undefined) return keyless(signature, landed.slot, OF_NEWER_VERSION, account);
  const place = named.indexOf(account.address);
  const received = place < 0 ? undefined : growth(outcome, place, SOLANA.asset);
  if (received !== undefined && received <= 0n) return undefined;

  const payment = {
    ...keyless(signature, landed.slot, String(named[0]), account),
    amount: received,
  };
  const transfer = transferOf(landed.transaction);
  if (transfer?.transfer.destination !== account.address || transfer.transfer.amount !== received) return payment;
  const { authority } = transfer.transfer;
  return {
    ...payment,
    key: `${SOLANA.network}/${messageHash(transfer.messageBytes)}`,
    payer: authority,
    relayed: named[0] !== authority,
  };
}

/** Returns the transfer of a transaction that has the form of a payment. */
function transferOf(wire: Uint8Array): TransferTransaction | undefined {
  try {
    return readTransaction({ transaction: toBase64(wire) });
  } catch (error) {
    if (hasCode(error, "payment_refused")) return undefined;
    throw error;
  }
}
