import type { KeyEntry } from "@attestd/proof";
import { APART, type Call, type CallState, liveAttempt } from "../calls/call.ts";
import { mayBeBehind } from "../calls/copied.ts";
import { isFinal } from "../calls/machine.ts";
import type { ChainPayment } from "../payment/rails/payment-reader.ts";
import { railKind } from "../payment/rails/registry.ts";
import { checkBundle, noteOf } from "./bundle-checks.ts";
import { covers, type Premises } from "./facts.ts";
import { bundleTexts, noteIn } from "./own-bundle.ts";
import type { Code, Severity } from "./report.ts";
import type { Joined, RowContext, RowReport } from "./row.ts";

/** States whose payment is on its chain. */
const PAID: ReadonlySet<CallState> = new Set(["paid", "signed", "confirmed", "done", "owed", "refunded"]);
/** States whose payment never will be on its chain, or has vanished from it. */
const UNPAID: ReadonlySet<CallState> = new Set(["void", "loss"]);
/** States whose attestation may be on the ledger. */
const ATTESTED: ReadonlySet<CallState> = new Set(["signed", "owed", "confirmed", "done", "loss"]);
/** States whose attestation is on the ledger. */
const RECORDED: ReadonlySet<CallState> = new Set(["confirmed", "done", "loss"]);

/**
 * Returns what a row claims to be on the chains within the spans.
 * @returns ids of the payment's transaction and of the attestation
 */
export function claimsOf(
  call: Call,
  { ledger, rails }: RowContext["spans"],
): { payment?: string; attestation?: string } {
  const { state, proof, rail, round } = call;
  const paid = PAID.has(state) && proof && covers(rails[rail], proof.height) ? proof.transaction : undefined;
  const recorded =
    RECORDED.has(state) && round !== undefined && covers(ledger, round) ? liveAttempt(call)?.txid : undefined;
  return { ...(paid && { payment: paid }), ...(recorded && { attestation: recorded }) };
}

/** Compares a row with the chains, and its parts with one another. */
export async function checkRow(joined: Joined, context: RowContext) {
  const { call } = joined;
  const as = (severity: Severity) => (code: Code, message: string, txid?: string) =>
    context.findings.add(severity, code, message, { key: call.key, txid });
  const report = { violation: as("violation"), open: as("open"), information: as("information") };
  const settled = checkPayment(joined, context, report);
  const { bundle } = call;
  const text = bundle && (await firstOf(bundleTexts(bundle, context.premises.apart)));
  await checkAttestations(joined, text, context, report);
  checkRecord(joined, context, report);
  return {
    settled,
    delivered: await checkBundle(joined, text, context, report),
    notRead: isBeyond(call, context.spans),
  };
}

/** @returns whether the row's payment is on its chain */
function checkPayment({ call, payment }: Joined, { spans }: RowContext, report: RowReport): boolean {
  const { state, proof, rail, requirement } = call;
  const fits = payment !== undefined && isOf(payment, call);
  if (UNPAID.has(state) && fits) {
    const message = `The call is ${state}, and the chain shows its payment.`;
    report.violation("row_unpaid_but_chain_disagrees", message, payment.transaction);
  }
  if (!PAID.has(state)) return fits;
  if (!proof) {
    report.violation("row_paid_but_chain_disagrees", `The call is ${state} without a proof of payment.`);
  } else if (payment && !fits) {
    const { amount, payTo } = requirement;
    const message = `The chain shows ${payment.amount} to ${payment.payTo}, where the call asked for ${amount} to ${payTo}.`;
    report.violation("row_paid_but_chain_disagrees", message, payment.transaction);
  } else if (payment && payment.transaction !== proof.transaction) {
    const message = `The payment is in ${payment.transaction}, not in ${proof.transaction} as the call says.`;
    report.information("payment_in_another_transaction", message, payment.transaction);
  } else if (!payment && covers(spans.rails[rail], proof.height)) {
    if (proof.final) {
      const message = `The call is ${state}, and ${rail} shows no payment of its key.`;
      report.violation("row_paid_but_chain_disagrees", message, proof.transaction);
    } else {
      const message = `The payment was seen at ${proof.height} on ${rail} and is not there now; it was not final.`;
      report.open("payment_vanished", message, proof.transaction);
    }
  }
  return fits;
}

/** Checks that the ledger has the row's own attestation for this payment, and no other. */
async function checkAttestations(
  { call, payment, attestations }: Joined,
  bundle: string | undefined,
  { premises }: RowContext,
  report: RowReport,
): Promise<void> {
  const { state, attempts } = call;
  // A final row does not change, and an absent payment pays for nothing.
  const isBehind = !isFinal(state) && payment !== undefined && mayBeBehind(call, premises.copiedUntil);
  if (attestations.length > 1) {
    const txids = attestations.map(({ txid }) => txid).join(", ");
    report.violation("two_attestations_for_one_payment", `The ledger has ${attestations.length}: ${txids}.`);
  }
  if (attempts.slice(0, -1).some(({ dead }) => !dead))
    report.violation("two_live_attempts", "An attempt was signed while the previous one could still be confirmed.");

  for (const { txid, round, text, note } of attestations) {
    const attempt = attempts.find((one) => one.txid === txid);
    if (state === "refunded") {
      report.violation("attested_though_refunded", "The payment was refunded, and attested all the same.", txid);
    } else if (isBehind && (!attempt || attempt.dead)) {
      const message =
        "The row is older than this attestation, because the journal was restored: the service will deliver it.";
      report.open("attestation_unknown_to_row", message, txid);
    } else if (state === "settling" || state === "void") {
      report.violation("attested_without_payment", `The call is ${state}, and an attestation is on the ledger.`, txid);
    } else if (!attempt || !ATTESTED.has(state)) {
      report.violation("attestation_unknown_to_row", "The call does not know this attestation of its payment.", txid);
    } else if (attempt.dead) {
      report.violation("dead_attempt_on_ledger", "The call considers this attestation dead.", txid);
    }
    const key = premises.history.keys.find(({ keySha256 }) => keySha256 === note.a);
    if (!key) report.violation("note_of_another_key", "The note names a key that is not in the key history.", txid);
    else if (round < key.fromRound || round >= (key.untilRound ?? Number.POSITIVE_INFINITY))
      report.violation(
        "note_of_another_key",
        `The note names the key ${key.kid}, which is not valid in round ${round}.`,
        txid,
      );
    else if (text !== ((await dueNote(call, bundle, key, premises)) ?? text))
      report.violation("note_of_another_request", "The note does not state what was bought.", txid);
  }
}

/**
 * Computes the note that a call's attestation by that key must have: from the evidence, or for a final call from its
 * bundle's.
 * @returns undefined if there is neither, and nothing was bought
 */
async function dueNote(
  call: Call,
  bundle: string | undefined,
  key: KeyEntry,
  premises: Premises,
): Promise<string | undefined> {
  const evidence = call.evidence === APART ? await premises.apart.evidenceOf(call.key) : call.evidence;
  if (evidence) return noteOf(call, evidence, key, premises);
  return bundle === undefined ? undefined : noteIn(bundle);
}

async function firstOf(texts: AsyncGenerator<string>): Promise<string | undefined> {
  for await (const text of texts) return text;
  return undefined;
}

/** Checks that the ledger has what the row claims. */
function checkRecord({ call, attestations }: Joined, { spans }: RowContext, report: RowReport): void {
  const { state, round } = call;
  if (!RECORDED.has(state)) return;
  const code = state === "confirmed" ? "confirmed_attestation_not_on_ledger" : "delivered_bundle_not_on_ledger";
  const attempt = liveAttempt(call);
  if (!attempt || round === undefined) {
    report.violation(code, `The call is ${state} without an attestation of its own.`);
  } else if (covers(spans.ledger, round)) {
    const found = attestations.find(({ txid }) => txid === attempt.txid);
    if (!found) report.violation(code, `The ledger does not have it in round ${round}.`, attempt.txid);
    else if (found.round !== round)
      report.violation(code, `The ledger has it in round ${found.round}, not ${round}.`, attempt.txid);
  }
}

function isOf({ payTo, amount, rail }: ChainPayment, { requirement }: Call): boolean {
  return railKind(rail).sameAddress(payTo, requirement.payTo) && amount === BigInt(requirement.amount);
}

/** Whether the row claims something at heights that were not read. */
function isBeyond({ state, proof, round, rail }: Call, { ledger, rails }: RowContext["spans"]): boolean {
  const payment = PAID.has(state) && proof !== undefined && !covers(rails[rail], proof.height);
  return payment || (RECORDED.has(state) && round !== undefined && !covers(ledger, round));
}
