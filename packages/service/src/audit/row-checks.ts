import {
  type Bundle,
  bundleId,
  type Finding,
  type KeyEntry,
  mayAskChain,
  parseJson,
  type SignedBundle,
  signedPart,
  verify,
  withChain,
} from "@attestd/proof";
import { signingBytes } from "@attestd/proof/attestor";
import { equalBytes } from "@attestd/proof/encoding";
import { canonicalBytes } from "@attestd/proof/json";
import { type Call, type CallState, evidenceOf, liveAttempt } from "../calls/call.ts";
import { mayBeBehind } from "../calls/copied.ts";
import { isFinal } from "../calls/machine.ts";
import { isPruned } from "../calls/pruning.ts";
import { railKind } from "../payment/rails/registry.ts";
import { itemTexts } from "../subjects/batch-answer.ts";
import type { Recorded } from "./chain-index.ts";
import { type ChainPayment, covers, type Facts, type Premises } from "./facts.ts";
import { isPrunedBundleOf, noteIn } from "./pruned-bundle.ts";
import type { Code, Findings, Severity } from "./report.ts";

/** What one row is compared with. */
export type RowContext = {
  spans: Pick<Facts, "ledger" | "rails">;
  premises: Premises;
  findings: Findings;
};

/** A row with what the chains show of it. */
export type Joined = { call: Call; payment: ChainPayment | undefined; attestations: readonly Recorded[] };

/** States in which the payment is on its chain. */
const PAID: ReadonlySet<CallState> = new Set(["paid", "signed", "confirmed", "done", "owed", "refunded"]);
/** States in which the payment never will be on its chain, or has vanished from it. */
const UNPAID: ReadonlySet<CallState> = new Set(["void", "loss"]);
/** States whose attestation may be on the ledger. */
const ATTESTED: ReadonlySet<CallState> = new Set(["signed", "owed", "confirmed", "done", "loss"]);
/** States in which it is. */
const RECORDED: ReadonlySet<CallState> = new Set(["confirmed", "done", "loss"]);

/**
 * What a row claims to be on the chains within the spans.
 *
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
    context.findings.add(severity, code, message, { key: call.key, ...(txid !== undefined && { txid }) });
  const report = { violation: as("violation"), open: as("open"), information: as("information") };
  const settled = checkPayment(joined, context, report);
  checkAttestations(joined, context, report);
  checkRecord(joined, context, report);
  return {
    settled,
    delivered: await checkBundle(joined, context, report),
    notRead: isBeyond(call, context.spans),
  };
}

type Report = Record<Severity, (code: Code, message: string, txid?: string) => void>;

/** @returns whether the payment is on its chain, as the row binds it */
function checkPayment({ call, payment }: Joined, { spans }: RowContext, report: Report): boolean {
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
    const message = `The payment stands in ${payment.transaction}, not in ${proof.transaction} as the call says.`;
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
function checkAttestations({ call, payment, attestations }: Joined, { premises }: RowContext, report: Report): void {
  const { state, attempts } = call;
  // What is final stays as it is, and a payment that is not there pays for nothing.
  const isBehind = !isFinal(state) && payment !== undefined && mayBeBehind(call, premises.copiedUntil);
  if (attestations.length > 1) {
    const txids = attestations.map(({ txid }) => txid).join(", ");
    report.violation("two_attestations_for_one_payment", `The ledger holds ${attestations.length}: ${txids}.`);
  }
  if (attempts.slice(0, -1).some(({ dead }) => !dead))
    report.violation("two_live_attempts", "An attempt was signed before the one before it was dead.");

  for (const { txid, round, text, note } of attestations) {
    const attempt = attempts.find((one) => one.txid === txid);
    if (state === "refunded") {
      report.violation("attested_though_refunded", "The payment was given back, and attested for all the same.", txid);
    } else if (isBehind && (!attempt || attempt.dead)) {
      const message = "The row is of before this attestation, for the journal was put back: the service delivers it.";
      report.open("attestation_unknown_to_row", message, txid);
    } else if (state === "prepared" || state === "settling" || state === "void") {
      report.violation("attested_without_payment", `The call is ${state}, and an attestation is on the ledger.`, txid);
    } else if (!attempt || !ATTESTED.has(state)) {
      report.violation("attestation_unknown_to_row", "The call does not know this attestation of its payment.", txid);
    } else if (attempt.dead) {
      report.violation("dead_attempt_on_ledger", "The call holds this attestation to be dead.", txid);
    }
    const key = premises.history.keys.find(({ keySha256 }) => keySha256 === note.a);
    if (!key) report.violation("note_of_another_key", "The note names a key that is not in the key history.", txid);
    else if (round < key.fromRound || round >= (key.untilRound ?? Number.POSITIVE_INFINITY))
      report.violation("note_of_another_key", `The note names the key ${key.kid}, not of round ${round}.`, txid);
    else if (text !== (dueNote(call, key, premises) ?? text))
      report.violation("note_of_another_request", "The note says something else than what was bought.", txid);
  }
}

/** Checks that what the row claims to be on the ledger is there. */
function checkRecord({ call, attestations }: Joined, { spans }: RowContext, report: Report): void {
  const { state, round } = call;
  if (!RECORDED.has(state)) return;
  const code = state === "confirmed" ? "confirmed_attestation_not_on_ledger" : "delivered_bundle_not_on_ledger";
  const attempt = liveAttempt(call);
  if (!attempt || round === undefined) {
    report.violation(code, `The call is ${state} without an attestation of its own.`);
  } else if (covers(spans.ledger, round)) {
    const found = attestations.find(({ txid }) => txid === attempt.txid);
    if (!found) report.violation(code, `The ledger does not hold it in round ${round}.`, attempt.txid);
    else if (found.round !== round)
      report.violation(code, `The ledger holds it in round ${found.round}, not ${round}.`, attempt.txid);
  }
}

/** @returns whether the bundle is there, verifies, and is the call's own */
async function checkBundle(
  { call, attestations }: Joined,
  { premises, spans }: RowContext,
  report: Report,
): Promise<boolean> {
  const { state, bundle } = call;
  const isDue = state === "done" || state === "loss";
  if (!bundle) {
    if (isDue) report.violation("bundle_missing", `The call is ${state} and has no bundle.`);
    return false;
  }
  if (!isDue) {
    report.violation("bundle_before_done", `The call is ${state} and has a bundle.`);
    return false;
  }
  // All items of a batch have one head: one of them is verified, and all are compared with the evidence below.
  const text = call.subject.kind === "batch" ? firstItem(bundle.body) : bundle.body;
  const faults = faultsOf(text, attestations, premises);
  // Only the ledger could decide, and it was not read: counted, not judged.
  if (faults === REVOKED && !covers(spans.ledger, call.round ?? -1)) return false;
  if (faults !== "") {
    report.violation("bundle_bytes_do_not_verify", `The bundle is refused: ${faults}.`);
    return false;
  }
  const signed = signedPart(parseJson(Buffer.from(text)) as unknown as Bundle);
  const isOwn =
    bundleId(signed) === bundle.id &&
    (isPruned(call)
      ? isPrunedBundleOf(call, (item) => faultsOf(item, attestations, premises) === "")
      : isBundleOf(call, signed, premises) && (text === bundle.body || (await isAnswerOf(call, signed, premises))));
  if (!isOwn)
    report.violation("bundle_of_another_call", "The bundle is not of this call's attestation.", signed.attest.txnId);
  return isOwn;
}

/** The first item of a batch's answer with its head; an empty text where there is none. */
function firstItem(answer: string): string {
  return itemTexts(answer).next().value ?? "";
}

/** Whether a batch was delivered with each item as the row's evidence has it. @param head verified */
async function isAnswerOf(call: Call, head: SignedBundle, { products }: Premises): Promise<boolean> {
  const { answer } = products[call.subject.kind];
  if (!answer || !call.bundle) return false;
  const due = await answer(evidenceOf(call), { id: call.bundle.id, body: JSON.stringify(head) });
  return due.body === call.bundle.body;
}

/** Whether what was signed is what the row makes. @param signed verified */
function isBundleOf(call: Call, signed: SignedBundle, premises: Premises): boolean {
  const attempt = liveAttempt(call);
  const key = premises.history.keys.find(({ pqPublicKey }) => pqPublicKey === signed.attestor.pqPublicKey);
  if (!attempt || call.round === undefined || !key || !call.evidence) return false;
  const { algorandAddress, pqPublicKey } = key;
  const due = premises.products[call.subject.kind].bundle(evidenceOf(call), {
    attest: { txnId: attempt.txid, round: call.round, note: noteOf(call, key, premises) },
    attestor: { algorandAddress, pqPublicKey },
  });
  return equalBytes(signingBytes(signed), canonicalBytes(due));
}

/**
 * The note that a call's attestation by that key has to have: made of the evidence, or of a pruned call its bundle's.
 *
 * @returns undefined where neither is there, and nothing was bought
 */
function dueNote(call: Call, key: KeyEntry, premises: Premises): string | undefined {
  if (call.evidence) return noteOf(call, key, premises);
  return isPruned(call) && call.bundle ? noteIn(call.bundle.body) : undefined;
}

/** The note of a call's attestation by that key (docs/format.md). */
function noteOf(call: Call, { keySha256 }: KeyEntry, { history, products }: Premises): string {
  const context = { keySha256, ledger: history.ledger, paymentKey: call.key };
  return products[call.subject.kind].note(evidenceOf(call), context);
}

/** The fault of a bundle whose only fault is that its key was revoked and the ledger does not show it before that. */
const REVOKED = "keyTrust, for the ledger does not show it before its key's revocation";

/**
 * The checks that fail; "" when the bundle verifies. A bundle of a revoked key is judged by the ledger, as every verifier
 * does (`withChain`).
 */
function faultsOf(body: string, attestations: readonly Recorded[], { history, crypto }: Premises): string {
  try {
    const offline = verify(body, { trust: history, crypto });
    const awaitsLedger = !offline.verified && mayAskChain(offline);
    const chainAttest =
      awaitsLedger && recordFindings(signedPart(parseJson(Buffer.from(body)) as unknown as Bundle), attestations);
    if (chainAttest && chainAttest.length > 0) return REVOKED;
    const { verified, failures } = chainAttest ? withChain(offline, { chainAttest }) : offline;
    return verified ? "" : [...new Set(failures.map(({ check }) => check))].join(", ") || "not verified";
  } catch (error) {
    return (error as Error).message;
  }
}

/** Check `chainAttest`, by what was read of the ledger. */
function recordFindings({ attest, attestor }: SignedBundle, attestations: readonly Recorded[]): Finding[] {
  const found = attestations.find(({ txid }) => txid === attest.txnId);
  const same = found?.round === attest.round && found.text === attest.note;
  if (same && found.movesNothing && found.sender === attestor.algorandAddress) return [];
  return [{ pointer: "/attest/txnId", message: "is not on the ledger as the bundle has it" }];
}

function isOf({ payTo, amount, rail }: ChainPayment, { requirement }: Call): boolean {
  return railKind(rail).sameAddress(payTo, requirement.payTo) && amount === BigInt(requirement.amount);
}

/** Whether the row claims something at heights that were not read. */
function isBeyond({ state, proof, round, rail }: Call, { ledger, rails }: RowContext["spans"]): boolean {
  const payment = PAID.has(state) && proof !== undefined && !covers(rails[rail], proof.height);
  return payment || (RECORDED.has(state) && round !== undefined && !covers(ledger, round));
}
