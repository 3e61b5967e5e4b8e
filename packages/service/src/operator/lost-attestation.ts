import { type BlockNote, parseNote, type TransactionNote } from "@attestd/proof";
import type { AttestationSearchOptions, FoundAttestation } from "../audit/find-attestation.ts";
import type { KeyedPayment } from "../audit/find-payment.ts";
import { ServiceError } from "../lib/errors.ts";
import type { PaymentReader } from "../payment/rails/payment-reader.ts";
import type { RailName } from "../payment/rails/rail.ts";
import type { BatchEvidence, Evidence, Products } from "../subjects/product.ts";

export type SearchOptions = AttestationSearchOptions & {
  /** Payments are also searched from `since` on. */
  readers: ReadonlyMap<RailName, PaymentReader>;
  products: Products;
  attestor: {
    /** SHA-256 of the current key. */
    keySha256: string;
    /** CAIP-2. */
    ledger: string;
  };
};

/** Returns the evidence with the block that the note states, as it was then. */
function asSeen(fetched: Exclude<Evidence, BatchEvidence>, note: TransactionNote | BlockNote): Evidence {
  const { l: level } = note;
  if (fetched.kind !== "transaction" || !("t" in note)) return { ...fetched, level };
  const { b: hash, n: height, u: time, s } = note;
  return { ...fetched, level, block: { hash, height, time }, ...(s !== undefined && { succeeded: s === 1 }) };
}

/**
 * Returns the evidence as the attestation stated it: its source may be deeper in its chain by now or, after a
 * reorganisation, in another block.
 * @throws not_allowed when the attestation has another subject, or a key that is not the current one
 */
export function asAttested(
  fetched: Evidence,
  { text, attempt }: FoundAttestation,
  { key }: KeyedPayment,
  options: SearchOptions,
): Evidence {
  const note = parseNote(text);
  // Only the lost row had the nonces of its statements, so nobody can rebuild the tree whose root was recorded.
  if ("z" in note) {
    const message = `This payment has bought a batch of ${note.z}, which ${attempt.txid} records. Its proofs were only in the lost row and cannot be made again: refund the payment by hand.`;
    throw new ServiceError("not_allowed", message);
  }
  if (!("l" in note)) throw new TypeError("an attestation's note has a level");
  const context = { ...options.attestor, paymentKey: key };
  const evidence = fetched.kind === "batch" ? undefined : asSeen(fetched, note);
  if (evidence && text === options.products[evidence.kind].note(evidence, context)) return evidence;
  const what = "t" in note ? `transaction ${note.t}` : `block ${note.b}`;
  const by = note.a === context.keySha256 ? "" : ", with a key that is not the current one";
  throw new ServiceError("not_allowed", `This payment has bought an attestation of ${what}${by}: ${attempt.txid}.`);
}
