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
import { type Call, evidenceOf, liveAttempt } from "../calls/call.ts";
import { isPruned } from "../calls/pruning.ts";
import { itemTexts } from "../subjects/batch-answer.ts";
import type { Recorded } from "./chain-index.ts";
import { covers, type Premises } from "./facts.ts";
import { isPrunedBundleOf } from "./pruned-bundle.ts";
import type { Joined, RowContext, RowReport } from "./row.ts";

/** @returns whether the bundle is there, verifies, and is the call's own */
export async function checkBundle(
  { call, attestations }: Joined,
  { premises, spans }: RowContext,
  report: RowReport,
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

/** The note of a call's attestation by that key (docs/format.md). */
export function noteOf(call: Call, { keySha256 }: KeyEntry, { history, products }: Premises): string {
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
