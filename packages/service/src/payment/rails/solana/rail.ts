import { USDC_DECIMALS } from "@attestd/proof/rails";
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import { solanaAddressBytes } from "../../../config/solana-address.ts";
import type { Clock } from "../../../lib/clock.ts";
import { isEd25519Signature } from "../../../lib/crypto/ed25519.ts";
import { ignoring } from "../../../lib/errors.ts";
import { agreeOnQuantity } from "../../../providers/quantity.ts";
import { agree, failover, hasLaggards } from "../../../providers/quorum.ts";
import type { SolanaNodes, SolanaRpc } from "../../../providers/solana-rpc.ts";
import { type Payment, type PaymentStatus, paymentRefused, type Rail, VOID_WITNESSES } from "../rail.ts";
import { checkFeePayer, checkLayout, checkPriorityFee, type SolanaLimits } from "./layout.ts";
import { describe, isBefore, type Observation, solanaSearch } from "./search.ts";
import { bytesOf, usdcAccountFault, usdcAccountOf, usdcHolding } from "./token-account.ts";
import { messageHash, readTransaction, type Transfer, type TransferTransaction } from "./transaction.ts";
import { SOLANA } from "./usdc.ts";

const POLL_MS = 400;
/** The number of slots by which a payer's node may be ahead of ours. */
const AHEAD_SLOTS = 32;

export type SolanaPayment = Payment & { readonly rail: "solana"; readonly transaction: TransferTransaction };

export type SolanaRailOptions = { nodes: SolanaNodes; limits: SolanaLimits; clock: Clock };

/** The Solana USDC rail: scheme `exact` of @x402/svm, a token transfer that lacks only the fee payer's signature. */
export function solanaRail({ nodes, limits, clock }: SolanaRailOptions): Rail<SolanaPayment> {
  /**
   * By payment key: the slot from which an invalid blockhash counts as expired. A crash loses it, which only costs
   * time.
   */
  const expiredBy = new Map<string, number>();
  const searches = nodes.rpcs.map((rpc) => solanaSearch(rpc));

  return {
    ...SOLANA,
    extra: {},
    wallets: {
      now: (signal) =>
        failover(nodes.rpcs, (rpc, ends) => rpc.latestBlockhash(ends), { about: "the latest blockhash", signal }),
      isAddress: (text) => solanaAddressBytes(text) !== undefined,
      async holding(address, signal) {
        const account = String(usdcAccountOf(address));
        const ask = async (rpc: SolanaRpc, ends: AbortSignal) => usdcHolding(await rpc.account(account, ends), address);
        return failover(nodes.rpcs, ask, { about: `the balance of ${address}`, signal });
      },
    },

    read(payload: PaymentPayload): SolanaPayment {
      if (payload.x402Version !== 2) throw paymentRefused("x402Version is not 2");
      const transaction = readTransaction(payload.payload);
      const { authority, destination, amount, mint } = transaction.transfer;
      return {
        rail: SOLANA.name,
        key: `${SOLANA.network}/${messageHash(transaction.messageBytes)}`,
        aliases: [],
        payer: authority,
        payTo: destination,
        amount,
        asset: mint,
        payload,
        wire: { transaction: payload.payload.transaction },
        transaction,
      };
    },

    async signature({ payer, transaction: { messageBytes, signatures } }) {
      const signature = signatures.get(payer);
      return signature && isEd25519Signature(bytesOf(payer), messageBytes, signature) ? "valid" : "invalid";
    },

    // A program cannot sign a transaction: every transfer is authorized by a key.
    onChain: async () => false,

    async checkLayout({ transaction }) {
      checkSource(transaction.transfer);
      checkLayout(transaction);
    },

    async check({ transaction }, requirement) {
      checkSource(transaction.transfer);
      checkTransfer(transaction.transfer, requirement);
      checkFeePayer(transaction, requirement.extra.feePayer);
      checkLayout(transaction);
      checkPriorityFee(transaction, limits);
    },

    async balance({ transaction: { transfer } }, signal) {
      const ask = (rpc: SolanaRpc, ends: AbortSignal) => rpc.tokenBalance(transfer.source, ends);
      return agreeOnQuantity(nodes.rpcs, ask, { about: `the balance of ${transfer.source}`, signal }, nodes.rules);
    },

    async payeeFault(payTo, signal) {
      const address = String(usdcAccountOf(payTo));
      const ask = async (rpc: SolanaRpc, ends: AbortSignal) => {
        const fault = usdcAccountFault(await rpc.account(address, ends), payTo);
        return fault && `${fault} (${address})`;
      };
      const question = { about: `the payee ${payTo}`, same: String, signal };
      const [fault] = await agree(nodes.rpcs, ask, question, nodes.rules);
      return fault;
    },

    async status(payment, signal): Promise<PaymentStatus> {
      const observations = await lookEverywhere(payment, signal).catch(ignoring(hasLaggards));
      if (!observations) return { state: "open" };
      const status = statusOf(payment, observations);
      if (status.state !== "open") expiredBy.delete(payment.key);
      return status;
    },

    async spent(payment, signal) {
      const [observation] = await lookEverywhere(payment, signal);
      return observation.kind === "moved";
    },

    news: (signal) => clock.sleep(POLL_MS, signal),
  };

  /**
   * Asks every node. A node that has not reached the slot in which others saw it land does not contradict them, and
   * does not confirm that it landed.
   */
  function lookEverywhere(payment: SolanaPayment, signal: AbortSignal): Promise<[Observation, ...Observation[]]> {
    const behind = (observation: Observation, others: readonly Observation[]) =>
      others.some((other) => isBefore(observation, other));
    const question = { about: `the payment ${payment.key}`, same: describe, behind, signal };
    return agree(searches, (search, ends) => search.look(payment.transaction, ends), question, nodes.rules);
  }

  function statusOf({ key }: SolanaPayment, observations: readonly [Observation, ...Observation[]]): PaymentStatus {
    const [observation] = observations;
    const mayVoid = observations.length >= Math.min(VOID_WITNESSES, searches.length);
    const final = observations.every((each) => each.kind !== "absent" && each.final);
    if (observation.kind === "moved")
      return { state: "paid", transaction: observation.signature, height: observation.slot, final };
    // After a void the payer signs again, so no fork may revive this payment.
    if (observation.kind === "failed")
      return final && mayVoid
        ? { state: "void", reason: `failed on chain, in ${observation.signature}` }
        : { state: "open" };
    const absences = observations.filter((each) => each.kind === "absent");
    return hasExpired(key, absences) && mayVoid
      ? { state: "void", reason: "expired unspent: its blockhash is too old" }
      : { state: "open" };
  }

  /**
   * Whether a blockhash has expired. An invalid blockhash is too old, or too new for the node. It is too old if it is
   * still invalid when every slot that it may come from is finalized: those up to the newest one of our first look.
   */
  function hasExpired(key: string, absences: readonly (Observation & { kind: "absent" })[]): boolean {
    if (absences.some(({ valid }) => valid)) {
      expiredBy.delete(key);
      return false;
    }
    const newest = Math.max(...absences.map(({ processed }) => processed));
    const by = expiredBy.get(key) ?? newest + AHEAD_SLOTS;
    expiredBy.set(key, by);
    return absences.every(({ finalized }) => finalized >= by);
  }
}

/** Checks that the source is the payer's own token account, because its transactions will be searched. */
function checkSource({ source, mint, decimals, authority }: Transfer): void {
  if (mint !== SOLANA.asset) throw paymentRefused(`the payment moves the token ${mint}, not ${SOLANA.asset}`);
  if (decimals !== USDC_DECIMALS) throw paymentRefused(`the payment counts in ${decimals} decimals`);
  if (source !== usdcAccountOf(authority))
    throw paymentRefused("the payment does not come from the associated token account of its payer");
}

function checkTransfer(transfer: Transfer, { payTo, amount }: PaymentRequirements): void {
  const { destination, authority } = transfer;
  if (transfer.amount !== BigInt(amount)) throw paymentRefused(`the payment moves ${transfer.amount}, not ${amount}`);
  if (destination !== usdcAccountOf(payTo))
    throw paymentRefused(`the payment goes to ${destination}, which is not the associated token account of ${payTo}`);
  if (authority === payTo) throw paymentRefused("the payer is the payee");
}
