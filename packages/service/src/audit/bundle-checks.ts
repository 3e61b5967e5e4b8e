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
import type { Call } from "../calls/call.ts";
import { trusting } from "../lib/crypto/crypto.ts";
import type { Evidence } from "../subjects/product.ts";
import type { Recorded } from "./chain-index.ts";
import { covers, type Premises } from "./facts.ts";
import { bundleTexts, isBundleOf } from "./own-bundle.ts";
import type { Joined, RowContext, RowReport } from "./row.ts";

/**
 * Checks a call's bundle.
 * @param text of the bundle, or of a batch's first item; undefined if the call has none
 * @returns whether the bundle exists, verifies, and belongs to the call
 */
export async function checkBundle(
  { call, attestations }: Joined,
  text: string | undefined,
  { premises, spans }: RowContext,
  report: RowReport,
): Promise<boolean> {
  const { state, bundle } = call;
  const isDue = state === "done" || state === "loss";
  if (!bundle || text === undefined) {
    if (isDue) report.violation("bundle_missing", `The call is ${state} and has no bundle.`);
    return false;
  }
  if (!isDue) {
    report.violation("bundle_before_done", `The call is ${state} and has a bundle.`);
    return false;
  }
  const faults = faultsOf(text, attestations, premises);
  // Only the ledger could decide, and these rounds were not read: counted, not judged.
  if (faults === REVOKED && !covers(spans.ledger, call.round ?? -1)) return false;
  if (faults !== "") {
    report.violation("bundle_bytes_do_not_verify", `The bundle is refused: ${faults}.`);
    return false;
  }
  const signed = signedPart(parseJson(Buffer.from(text)) as unknown as Bundle);
  // All items share the head, which was verified with the first.
  const itemsPremises = { ...premises, crypto: trusting(premises.crypto) };
  const isOwn =
    bundleId(signed) === bundle.id &&
    (await isBundleOf(call, bundleTexts(bundle, premises.apart), (item) => {
      return faultsOf(item, attestations, itemsPremises) === "";
    }));
  if (!isOwn)
    report.violation(
      "bundle_of_another_call",
      "The bundle belongs to another attestation than this call's.",
      signed.attest.txnId,
    );
  return isOwn;
}

/**
 * Returns the note that an attestation of the call by that key must have (docs/format.md). @param evidence of the call
 */
export function noteOf(
  call: Call,
  evidence: Evidence,
  { keySha256 }: KeyEntry,
  { history, products }: Premises,
): string {
  return products[call.subject.kind].note(evidence, { keySha256, ledger: history.ledger, paymentKey: call.key });
}

/** The fault of a bundle with only one fault: its key was revoked, and the ledger does not show it before that. */
const REVOKED = "keyTrust, because the ledger does not show it before its key's revocation";

/**
 * Returns the checks that fail; "" when the bundle verifies. The ledger decides about a bundle with a revoked key, as
 * for every verifier (`withChain`).
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

/** Makes the check `chainAttest` with the part of the ledger that was read. */
function recordFindings({ attest, attestor }: SignedBundle, attestations: readonly Recorded[]): Finding[] {
  const found = attestations.find(({ txid }) => txid === attest.txnId);
  const same = found?.round === attest.round && found.text === attest.note;
  if (same && found.movesNothing && found.sender === attestor.algorandAddress) return [];
  return [{ pointer: "/attest/txnId", message: "is not on the ledger as the bundle has it" }];
}
