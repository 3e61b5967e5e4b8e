import { type Bundle, type BundleSource, isProofError, parseBundle, parseNote, signedPart } from "@attestd/proof";
import { paymentCommitment } from "@attestd/proof/attestor";
import { divisionOf } from "../calls/apart.ts";
import { type Call, type KeptBundle, liveAttempt } from "../calls/call.ts";
import type { Journal } from "../calls/journal.ts";
import { withHead } from "../subjects/batch-answer.ts";
import { requestHash, type Subject } from "../subjects/subject.ts";

/*
 * Checks that a final call's bundle belongs to it. The call's evidence has been deleted, so the bundle cannot be made
 * again and compared. But it is signed, and contains all that was attested: it belongs to the call if it names the
 * call's payment, attestation and subject.
 */

/** Reads the data that is stored apart from the rows. */
export type Apart = Pick<Journal, "evidenceOf" | "partsOf">;

/** Bytes of parts that are read at once. */
const PIECE = 64 * 1024;

/** Yields the bundle as delivered; for a batch, each item with the head, one after the other. */
export async function* bundleTexts(bundle: KeptBundle, apart: Apart): AsyncGenerator<string> {
  const { body, items } = bundle;
  const parts = partsOf(bundle, apart);
  if (body === undefined) yield (await Array.fromAsync(parts)).join("");
  else if (!items && !bundle.apart) yield body;
  else for await (const item of parts) yield withHead(body, item);
}

async function* partsOf(bundle: KeptBundle, apart: Apart): AsyncGenerator<string> {
  const { id, apart: { parts = 0 } = {} } = bundle;
  for (const { text } of divisionOf(bundle)?.parts ?? []) yield text;
  for (let place = 0; place < parts; ) {
    const texts = await apart.partsOf(id, place, PIECE);
    // The reader of the whole bundle notices a missing part.
    if (texts.length === 0) return;
    yield* texts;
    place += texts.length;
  }
}

/** Returns a bundle's note; undefined when it is not a bundle, or not of the type that it claims. */
export function noteIn(text: string): string | undefined {
  try {
    return signedPart(parseBundle(text)).attest.note;
  } catch (error) {
    if (isProofError(error, "json") || isProofError(error, "format")) return undefined;
    throw error;
  }
}

/**
 * Whether a bundle is a call's own.
 * @param texts `bundleTexts`
 * @param verifies called for each item of a batch but the first; a single bundle and the first item MUST be verified
 *   already
 */
export async function isBundleOf(
  { key, round, attempts, subject, subjectHash }: Call,
  texts: AsyncIterable<string>,
  verifies: (bundle: string) => boolean,
): Promise<boolean> {
  let first: Bundle | undefined;
  const sources: BatchSource[] = [];
  for await (const text of texts) {
    if (first && !verifies(text)) return false;
    const bundle = parseBundle(text);
    first ??= bundle;
    if (subject.kind === "batch") sources.push(sourceOf(bundle));
  }
  if (!first || requestHash(subjectOf(first, sources)) !== subjectHash) return false;
  const { attest } = signedPart(first);
  const note = parseNote(attest.note);
  const isPaidBy = "p" in note && note.p === paymentCommitment(key);
  return isPaidBy && attest.txnId === liveAttempt({ attempts })?.txid && attest.round === round;
}

type BatchSource = { chain: string; id: string };

/** Returns what was bought with a bundle, or with a whole batch, whose first item it is. */
function subjectOf(bundle: Bundle, sources: readonly BatchSource[]): Subject {
  if ("batch" in bundle) return { kind: "batch", items: sources };
  if (!("block" in bundle)) return { kind: "transaction", ...sourceOf(bundle) };
  const { chain, height } = bundle.block;
  return "source" in bundle ? { kind: "inclusion", ...sourceOf(bundle), height } : { kind: "block", chain, height };
}

/** Returns the source. Every delivered bundle names its chain. */
function sourceOf(bundle: Bundle): BatchSource {
  const { chain = "", txnId: id } = (bundle as { source: BundleSource }).source;
  return { chain, id };
}
