import { encodeAddress } from "@attestd/proof/algorand";
import { equalBytes } from "@attestd/proof/encoding";
import type { PaymentRequirements } from "@x402/core/types";
import type { Rounds, Window } from "../../../ledger/ledger.ts";
import { unavailable } from "../../../providers/provider.ts";
import { paymentRefused } from "../rail.ts";
import { allowOnly, checkGroupId, type GroupMember } from "./group.ts";
import type { AlgorandPayment } from "./payment.ts";
import { ALGORAND } from "./usdc.ts";

/** MainNet's mean round in seconds, for a validity that is given in seconds. */
const SECONDS_A_ROUND = 2.8;

/**
 * How many rounds the payer's node may be ahead of ours while our newest header is younger than 20 s, even on a network
 * with rounds of 200 ms. Clients make a payment first valid in the newest round that they know.
 */
const AHEAD_ROUNDS = 100;

/**
 * The number of rounds that must remain when we settle: for verify, settle and a slow block. The stock client gives
 * ten.
 */
const MARGIN_ROUNDS = 3;

const PAYMENT_FIELDS = new Set("type snd fee fv lv gen gh grp lx note xaid aamt arcv".split(" "));
/**
 * The allowed fields. A lease is not among them: a lease of the fee payer would block its other payments under the same
 * lease.
 */
const FEE_FIELDS = new Set("type snd rcv fee fv lv gen gh grp note".split(" "));
/** The limit of the fee payer's note. The stock client writes 28 bytes, and a long note may raise the fee. */
const MAX_FEE_NOTE_BYTES = 128;

/**
 * Checks the layout of scheme `exact`: a USDC transfer, preceded at most by the fee payer's transaction.
 * @param genesis the ledger's genesis hash, 32 bytes
 * @throws payment_refused
 */
export function checkLayout(payment: AlgorandPayment, genesis: Uint8Array): void {
  const { members, index, asset, payer, payTo } = payment;
  allowOnly((members[index] as GroupMember).transaction, PAYMENT_FIELDS, "payment transaction");
  if (asset !== ALGORAND.asset) throw paymentRefused(`the payment moves asset ${asset}, not ${ALGORAND.asset}`);
  if (payer === payTo) throw paymentRefused("the payer is the payee");
  for (const member of feePayersOf(payment)) checkFeePayment(member, genesis);
  if (members.length - 1 !== index)
    throw paymentRefused("the payment transaction is not the last of payload.paymentGroup");
  checkGroupId(members);
}

function feePayersOf({ members, index }: AlgorandPayment): GroupMember[] {
  return members.filter((_, i) => i !== index);
}

/** Checks that the fee payer's transaction is unsigned, and pays nothing from the fee payer to itself. */
function checkFeePayment({ transaction, envelope }: GroupMember, genesis: Uint8Array): void {
  if (envelope) throw paymentRefused("the fee payer's transaction is signed already");
  if (transaction.get("type") !== "pay")
    throw paymentRefused("the payment group has a second transaction which is not the fee payer's");
  allowOnly(transaction, FEE_FIELDS, "fee payer's transaction");
  const [sender, receiver, gh] = ["snd", "rcv", "gh"].map((field) => transaction.get(field));
  if (!(sender instanceof Uint8Array) || sender.length !== 32)
    throw paymentRefused("the fee payer's transaction has no sender");
  if (!(receiver instanceof Uint8Array) || !equalBytes(receiver, sender))
    throw paymentRefused("the fee payer's transaction does not pay the fee payer itself");
  if (!(gh instanceof Uint8Array) || !equalBytes(gh, genesis))
    throw paymentRefused("the fee payer's transaction names another ledger");
  const note = transaction.get("note");
  if (note !== undefined && !(note instanceof Uint8Array && note.length <= MAX_FEE_NOTE_BYTES))
    throw paymentRefused(`the fee payer's transaction has a note of more than ${MAX_FEE_NOTE_BYTES} bytes`);
}

/** @throws payment_refused when the amount or the payee is not the required one */
export function checkTransfer({ amount, payTo }: AlgorandPayment, requirement: PaymentRequirements): void {
  if (amount !== BigInt(requirement.amount))
    throw paymentRefused(`the payment moves ${amount}, not ${requirement.amount}`);
  if (payTo !== requirement.payTo) throw paymentRefused(`the payment goes to ${payTo}, not ${requirement.payTo}`);
}

/**
 * Checks the fee payer and its fee.
 * @param feePayer the offered one
 * @param maxFee microAlgos. The group pools its fees, and this fee is all that the fee payer pays
 * @throws payment_refused
 */
export function checkFeePayer(payment: AlgorandPayment, feePayer: unknown, maxFee: number): void {
  for (const { transaction } of feePayersOf(payment)) {
    if (encodeAddress(transaction.get("snd") as Uint8Array) !== feePayer)
      throw paymentRefused(`the fee payer is not the offered one, ${String(feePayer)}`);
    const fee = transaction.get("fee") ?? 0n;
    if ((typeof fee !== "bigint" && typeof fee !== "number") || fee > maxFee)
      throw paymentRefused(`the fee payer's fee is above ${maxFee} microAlgos`);
  }
}

/**
 * Checks a payment's window, after giving our nodes time to reach its first round.
 * @param rounds `latest()`: the latest round that we know
 * @throws payment_refused when the payment is too early, too late or too long; ProviderError when it seems so because
 *   our nodes are behind
 */
export function checkWindow(
  { firstValid, lastValid }: Window,
  rounds: Pick<Rounds, "latest" | "isCurrent">,
  maxLifeSeconds: number,
): void {
  const latest = rounds.latest();
  if (lastValid < latest + MARGIN_ROUNDS)
    throw paymentRefused(`the payment expires in round ${lastValid}, too soon after round ${latest}`);
  const isTooEarly = firstValid > latest + AHEAD_ROUNDS;
  const isTooLong = lastValid - latest > Math.ceil(maxLifeSeconds / SECONDS_A_ROUND);
  if ((isTooEarly || isTooLong) && rounds.isCurrent())
    throw paymentRefused(
      isTooEarly
        ? `the payment is not valid before round ${firstValid}`
        : `the payment stays valid for more than ${maxLifeSeconds} s`,
    );
  if (firstValid > latest || isTooLong)
    throw unavailable(`our nodes have round ${latest}, and the payment's first is ${firstValid}`);
}
