import { type Bundle, type BundleSource, isProofError, parseBundle, parseNote, signedPart } from "@attestd/proof";
import { paymentCommitment } from "@attestd/proof/attestor";
import { type Call, liveAttempt } from "../calls/call.ts";
import { itemTexts, verifiableText } from "../subjects/batch-answer.ts";
import { requestHash, type Subject } from "../subjects/subject.ts";

/*
 * The evidence of a pruned call is gone, so that its bundle cannot be made again and compared. But the bundle is signed, and
 * has all that was attested: it is the call's when it names the call's payment, its attestation and what was bought.
 */

/** The note in a body that was delivered; undefined when it is no bundle, or of another form than the one that it claims. */
export function noteIn(body: string): string | undefined {
  try {
    return signedPart(parseBundle(verifiableText(body))).attest.note;
  } catch (error) {
    if (isProofError(error, "json") || isProofError(error, "format")) return undefined;
    throw error;
  }
}

/**
 * Whether the bundle of a pruned call is its own.
 *
 * @param verifies asked for each item of a batch but the first; of others, and the first, it MUST be known
 */
export function isPrunedBundleOf(call: Call, verifies: (bundle: string) => boolean): boolean {
  const { bundle, key, round, subject, subjectHash } = call;
  const texts = subject.kind === "batch" ? [...itemTexts(bundle?.body ?? "")] : [bundle?.body ?? ""];
  if (!texts.slice(1).every(verifies)) return false;
  const bundles = texts.map((text) => parseBundle(text));
  const [first] = bundles;
  if (!first || requestHash(subjectOf(first, bundles)) !== subjectHash) return false;
  const { attest } = signedPart(first);
  const note = parseNote(attest.note);
  const isPaidBy = "p" in note && note.p === paymentCommitment(key);
  return isPaidBy && attest.txnId === liveAttempt(call)?.txid && attest.round === round;
}

/** What was bought with a bundle, or with all bundles of a batch, the first of which it is. */
function subjectOf(bundle: Bundle, all: readonly Bundle[]): Subject {
  if ("batch" in bundle) return { kind: "batch", items: all.map(sourceOf) };
  if (!("block" in bundle)) return { kind: "transaction", ...sourceOf(bundle) };
  const { chain, height } = bundle.block;
  return "source" in bundle ? { kind: "inclusion", ...sourceOf(bundle), height } : { kind: "block", chain, height };
}

/** The source, whose chain every delivered bundle names. */
function sourceOf(bundle: Bundle) {
  const { chain = "", txnId: id } = (bundle as { source: BundleSource }).source;
  return { chain, id };
}
