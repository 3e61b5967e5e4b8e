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
import { trusting } from "../crypto/crypto.ts";
import type { Evidence } from "../subjects/product.ts";
import type { Recorded } from "./chain-index.ts";
import { covers, type Premises } from "./facts.ts";
import { bundleTexts, isBundleOf } from "./own-bundle.ts";
import type { Joined, RowContext, RowReport } from "./row.ts";

/**
 * @param text of the bundle, of a batch that of the first item; undefined where the call has none
 * @returns whether the bundle is there, verifies, and is the call's own
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
  // Only the ledger could decide, and it was not read: counted, not judged.
  if (faults === REVOKED && !covers(spans.ledger, call.round ?? -1)) return false;
  if (faults !== "") {
    report.violation("bundle_bytes_do_not_verify", `The bundle is refused: ${faults}.`);
    return false;
  }
  const signed = signedPart(parseJson(Buffer.from(text)) as unknown as Bundle);
  // The head, which all items have, was verified with the first.
  const itemsPremises = { ...premises, crypto: trusting(premises.crypto) };
  const isOwn =
    bundleId(signed) === bundle.id &&
    (await isBundleOf(call, bundleTexts(bundle, premises.apart), (item) => {
      return faultsOf(item, attestations, itemsPremises) === "";
    }));
  if (!isOwn)
    report.violation("bundle_of_another_call", "The bundle is not of this call's attestation.", signed.attest.txnId);
  return isOwn;
}

/** The note of a call's attestation by that key (docs/format.md). @param evidence of the call */
export function noteOf(
  call: Call,
  evidence: Evidence,
  { keySha256 }: KeyEntry,
  { history, products }: Premises,
): string {
  return products[call.subject.kind].note(evidence, { keySha256, ledger: history.ledger, paymentKey: call.key });
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
