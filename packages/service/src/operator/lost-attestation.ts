import { type BlockNote, parseNote, type TransactionNote } from "@attestd/proof";
import type { AttestationSearchOptions, FoundAttestation } from "../audit/find-attestation.ts";
import type { KeyedPayment } from "../audit/find-payment.ts";
import type { PaymentReader } from "../audit/rails/rail.ts";
import { ServiceError } from "../errors.ts";
import type { RailName } from "../payment/rails/rail.ts";
import type { BatchEvidence, Evidence, Products } from "../subjects/product.ts";

export type SearchOptions = AttestationSearchOptions & {
  /** Payments too are looked for, from `since` on. */
  readers: ReadonlyMap<RailName, PaymentReader>;
  products: Products;
  attestor: {
    /** Of the current key. */
    keySha256: string;
    /** CAIP-2. */
    ledger: string;
  };
};

/** The evidence with what the note states of its chain, as it was seen then. */
function asSeen(fetched: Exclude<Evidence, BatchEvidence>, note: TransactionNote | BlockNote): Evidence {
  const { l: level } = note;
  if (fetched.kind !== "transaction" || !("t" in note)) return { ...fetched, level };
  const { b: hash, n: height, u: time, s } = note;
  return { ...fetched, level, block: { hash, height, time }, ...(s !== undefined && { succeeded: s === 1 }) };
}

/**
 * The evidence as the attestation saw it: its source may be deeper in its chain by now, or, after a reorganisation, in another
 * block.
 *
 * @throws not_allowed when the attestation is of something else, or of a key that is not the current one
 */
export function asAttested(
  fetched: Evidence,
  { text, attempt }: FoundAttestation,
  { key }: KeyedPayment,
  options: SearchOptions,
): Evidence {
  const note = parseNote(text);
  // The nonces of its statements were in the lost row alone, so that nobody can make the tree again whose root was recorded.
  if ("z" in note) throw lostBatch(note.z, attempt.txid);
  if (!("l" in note)) throw new TypeError("an attestation's note has a level");
  const { keySha256, ledger } = options.attestor;
  if (fetched.kind === "batch") throw boughtOther(note, attempt.txid, keySha256);
  const evidence = asSeen(fetched, note);
  if (text === options.products[evidence.kind].note(evidence, { keySha256, ledger, paymentKey: key })) return evidence;
  throw boughtOther(note, attempt.txid, keySha256);
}

function boughtOther(note: TransactionNote | BlockNote, txid: string, keySha256: string): ServiceError {
  const what = "t" in note ? `transaction ${note.t}` : `block ${note.b}`;
  const by = note.a === keySha256 ? "" : ", under a key that is not the current one";
  return new ServiceError("not_allowed", `This payment has bought an attestation of ${what}${by}: ${txid}.`);
}

function lostBatch(size: number, txid: string): ServiceError {
  const message = `This payment has bought a batch of ${size}, which ${txid} records. Its proofs were in the lost row alone and cannot be made again: give the payment back by hand.`;
  return new ServiceError("not_allowed", message);
}
