import { type Bundle, type BundleSource, isProofError, parseBundle, parseNote, signedPart } from "@attestd/proof";
import { paymentCommitment } from "@attestd/proof/attestor";
import { divisionOf } from "../calls/apart.ts";
import { type Call, type KeptBundle, liveAttempt } from "../calls/call.ts";
import type { Journal } from "../calls/journal.ts";
import { withHead } from "../subjects/batch-answer.ts";
import { requestHash, type Subject } from "../subjects/subject.ts";

/*
 * The evidence of a final call is gone, so that its bundle cannot be made again and compared. But the bundle is signed, and
 * has all that was attested: it is the call's when it names the call's payment, its attestation and what was bought.
 */

/** Reads what stands apart from the rows. */
export type Apart = Pick<Journal, "evidenceOf" | "partsOf">;

/** Bytes of parts that are read at once. */
const PIECE = 64 * 1024;

/** The bundle as it was delivered; of a batch each item with the head, one after the other. */
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
    // A part that is missing is missed by whoever reads the whole.
    if (texts.length === 0) return;
    yield* texts;
    place += texts.length;
  }
}

/** The note in a bundle; undefined when it is none, or of another form than the one that it claims. */
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
 *
 * @param texts `bundleTexts`
 * @param verifies asked for each item of a batch but the first; of others, and the first, it MUST be known
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

/** What was bought with a bundle, or with all bundles of a batch, the first of which it is. */
function subjectOf(bundle: Bundle, sources: readonly BatchSource[]): Subject {
  if ("batch" in bundle) return { kind: "batch", items: sources };
  if (!("block" in bundle)) return { kind: "transaction", ...sourceOf(bundle) };
  const { chain, height } = bundle.block;
  return "source" in bundle ? { kind: "inclusion", ...sourceOf(bundle), height } : { kind: "block", chain, height };
}

/** The source, whose chain every delivered bundle names. */
function sourceOf(bundle: Bundle): BatchSource {
  const { chain = "", txnId: id } = (bundle as { source: BundleSource }).source;
  return { chain, id };
}
