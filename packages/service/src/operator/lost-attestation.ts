import { type BlockNote, isProofError, parseNote, type TransactionNote } from "@attestd/proof";
import { paymentCommitment } from "@attestd/proof/attestor";
import type { LedgerNote, Span } from "../audit/facts.ts";
import type { KeyedPayment } from "../audit/find-payment.ts";
import type { PaymentReader } from "../audit/rails/rail.ts";
import { ServiceError } from "../errors.ts";
import { ATTEMPT_ROUNDS, type Attempt, type Rounds } from "../ledger/ledger.ts";
import type { RailName } from "../payment/rails/rail.ts";
import type { BatchEvidence, Evidence, Products } from "../subjects/product.ts";

/** An attestation that a lost call has left on the ledger. */
type LostAttestation = { attempt: Attempt; text: string };

export type SearchOptions = {
  readers: ReadonlyMap<RailName, PaymentReader>;
  /** Unix s from which on payments and attestations are looked for. */
  since: number;
  products: Products;
  /** The transactions that name the attestor's account, each with its bytes where they are those of an attempt. */
  notes(span: Span): AsyncIterable<LedgerNote & { attempt?: Attempt }>;
  attestor: {
    algorandAddress: string;
    /** Of the current key. */
    keySha256: string;
    /** CAIP-2. */
    ledger: string;
  };
  rounds: Pick<Rounds, "latest" | "next">;
  signal: AbortSignal;
  /** Called once when rounds have to pass first, with the last of them. */
  onWait(round: number): void;
};

/** Finds a payment's attestation; searches until no other one can come. @throws not_allowed when there are several */
export async function findLostAttestation(key: string, options: SearchOptions): Promise<LostAttestation | undefined> {
  const { readers, since, rounds, signal, onWait } = options;
  const ledger = readers.get("algorand");
  if (!ledger) throw new TypeError("the ledger has a reader");
  // An attempt is valid from a round that its signer has seen, and not for longer than this.
  const settled = (rounds.latest() || (await rounds.next(signal))) + ATTEMPT_ROUNDS;
  let { latest } = await ledger.heads();
  const from = await ledger.heightAt(since, latest);
  const found = await attestationOf(key, { from, to: latest }, options);
  if (found) return found;

  onWait(settled);
  const seen = latest;
  while (latest < settled) {
    await rounds.next(signal);
    if (rounds.latest() >= settled) latest = (await ledger.heads()).latest;
  }
  return attestationOf(key, { from: seen, to: latest }, options);
}

async function attestationOf(
  key: string,
  span: Span,
  { notes, attestor }: SearchOptions,
): Promise<LostAttestation | undefined> {
  const commitment = paymentCommitment(key);
  const found: LostAttestation[] = [];
  for await (const { sender, note: text, attempt } of notes(span)) {
    if (sender !== attestor.algorandAddress || text === undefined || commitmentOf(text) !== commitment) continue;
    if (!attempt)
      throw new ServiceError("not_allowed", "The attestation of this payment is not of the attestor's own form.");
    found.push({ attempt, text });
  }
  if (found.length <= 1) return found[0];
  const txids = found.map(({ attempt }) => attempt.txid).join(", ");
  throw new ServiceError("not_allowed", `The ledger holds more than one attestation of this payment: ${txids}.`);
}

function commitmentOf(text: string): string | undefined {
  try {
    const note = parseNote(text);
    return "p" in note ? note.p : undefined;
  } catch (error) {
    if (isProofError(error, "format")) return undefined;
    throw error;
  }
}

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
  { text, attempt }: LostAttestation,
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
