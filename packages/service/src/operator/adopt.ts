import { FormatError } from "@attestd/proof/format";
import { parseNote, paymentCommitment } from "@attestd/proof/note";
import type { PaymentRequirements } from "@x402/core/types";
import type { LedgerNote, Span } from "../audit/facts.ts";
import { findPayment, type KeyedPayment } from "../audit/find-payment.ts";
import type { PaymentReader } from "../audit/reading.ts";
import { Refused } from "../audit/refused.ts";
import type { Call, CallRequest } from "../calls/call.ts";
import type { Journal } from "../calls/journal.ts";
import { prepare, reduce } from "../calls/machine.ts";
import type { Clock } from "../clock.ts";
import type { Attempt, Rounds } from "../ledger/ledger.ts";
import type { Rail, RailName } from "../payment/rails/rail.ts";
import { settlementReceipt } from "../payment/receipt.ts";
import type { Evidence, Products } from "../subjects/product.ts";
import { requestHash, type Subject } from "../subjects/subject.ts";

export type AdoptionOptions = {
  journal: Pick<Journal, "find" | "insert" | "update" | "payees">;
  rails: readonly Rail[];
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
  clock: Pick<Clock, "now">;
  signal: AbortSignal;
  /** Told once when rounds have to pass first: up to which. */
  onWait(round: number): void;
};

/** An attestation that the lost call has left on the ledger. */
type Left = { attempt: Attempt; text: string };

/** Rounds for which an attempt lives at most (ledger/account.ts). */
const ATTEMPT_ROUNDS = 100;

/**
 * Binds a payment that the chain shows as made to us, and that the journal does not know, to a request. The payer's
 * replay is then answered as if the journal had never lost it.
 *
 * The lost call may have been attested for: then this one takes over that attestation, which has to be of the same
 * subject. Where the ledger holds none, this waits until none of the lost call's can come any more. No process may carry
 * the lost call meanwhile.
 *
 * @param target a payment key, or the id of the payment's transaction
 * @returns the call: `signed` where it took an attestation over, else `paid`; the service goes on with it
 * @throws Refused; Problem, SourceError when the subject cannot be attested; ProviderError; StaleCall
 */
export async function adopt(target: string, subject: Subject, options: AdoptionOptions): Promise<Call> {
  const { journal, products, signal } = options;
  const payment = await findPayment(target, options);
  const begun = await findBegun(payment, subject, journal);
  const fetched = begun?.evidence ?? (await products[subject.kind].evidence(subject, signal));
  const left = await findLeft(payment.key, options);
  const evidence = left ? asAttested(fetched, left, payment, options) : fetched;

  const call = begun ?? prepare(requestFor(payment, subject, evidence, options));
  if (!begun && (await journal.insert(call)) !== call) throw alreadyKnown(payment);
  const { transaction, height } = payment;
  const receipt = settlementReceipt(payment, call.requirement, { success: true, transaction });
  const adopted = reduce(call, {
    type: "payment_adopted",
    proof: { transaction, height, final: true },
    receipt,
    ...(left && { attempt: left.attempt }),
  });
  await journal.update(adopted);
  return adopted;
}

/** The call of an adoption that was broken off between its two commits. @throws Refused when it is another call */
async function findBegun(
  { key, aliases, ...payment }: KeyedPayment,
  subject: Subject,
  journal: AdoptionOptions["journal"],
): Promise<Call | undefined> {
  for (const name of [key, ...aliases]) {
    const known = await journal.find(name);
    if (!known) continue;
    const isBegun = known.key === key && !known.proof && Object.keys(known.payload.payload).length === 0;
    if (!isBegun) throw alreadyKnown({ key, aliases, ...payment }, known);
    if (known.subjectHash === requestHash(subject)) return known;
    throw new Refused("not_allowed", `An adoption of ${key} was begun for ${wordsFor(known.subject)}: name that.`);
  }
  return undefined;
}

function alreadyKnown({ key }: KeyedPayment, call?: Call): Refused {
  const where = call ? ` It is ${call.state}, for ${wordsFor(call.subject)}.` : "";
  return new Refused("not_allowed", `The journal has a call of ${key} already.${where}`);
}

function wordsFor(subject: Subject): string {
  const { chain } = subject;
  switch (subject.kind) {
    case "transaction":
      return `the ${chain} transaction ${subject.id}`;
    case "block":
      return `the ${chain} block ${subject.height}`;
    case "inclusion":
      return `the ${chain} transaction ${subject.id} in block ${subject.height}`;
  }
}

/** The attestation for a payment, looked for until no other one can come. @throws Refused when there are several */
async function findLeft(key: string, options: AdoptionOptions): Promise<Left | undefined> {
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

async function attestationOf(key: string, span: Span, { notes, attestor }: AdoptionOptions): Promise<Left | undefined> {
  const commitment = paymentCommitment(key);
  const found: Left[] = [];
  for await (const { sender, note: text, attempt } of notes(span)) {
    if (sender !== attestor.algorandAddress || text === undefined || commitmentOf(text) !== commitment) continue;
    if (!attempt)
      throw new Refused("not_allowed", "The attestation of this payment is not of the attestor's own form.");
    found.push({ attempt, text });
  }
  if (found.length <= 1) return found[0];
  const txids = found.map(({ attempt }) => attempt.txid).join(", ");
  throw new Refused("not_allowed", `The ledger holds more than one attestation of this payment: ${txids}.`);
}

function commitmentOf(text: string): string | undefined {
  try {
    const note = parseNote(text);
    return "p" in note ? note.p : undefined;
  } catch (error) {
    if (error instanceof FormatError) return undefined;
    throw error;
  }
}

/**
 * The evidence as the attestation saw it: its source may be deeper in its chain by now.
 *
 * @throws Refused when the attestation is of something else, or of a key that is not the current one
 */
function asAttested(
  fetched: Evidence,
  { text, attempt }: Left,
  { key }: KeyedPayment,
  options: AdoptionOptions,
): Evidence {
  const note = parseNote(text);
  if (!("l" in note)) throw new TypeError("an attestation's note has a level");
  const { keySha256, ledger } = options.attestor;
  const evidence = { ...fetched, level: note.l };
  if (text === options.products[evidence.kind].note(evidence, { keySha256, ledger, paymentKey: key })) return evidence;
  const what = "t" in note ? `transaction ${note.t}` : `block ${note.b}`;
  const by = note.a === keySha256 ? "" : ", under a key that is not the current one";
  throw new Refused("not_allowed", `This payment has bought an attestation of ${what}${by}: ${attempt.txid}.`);
}

function requestFor(
  payment: KeyedPayment,
  subject: Subject,
  evidence: Evidence,
  options: AdoptionOptions,
): CallRequest {
  const { key, aliases, rail: name, payer, payTo, amount } = payment;
  const rail = options.rails.find((candidate) => candidate.name === name);
  if (!rail) throw new TypeError(`the rail ${name} can be read`);
  const requirement: PaymentRequirements = {
    scheme: "exact",
    network: rail.network as PaymentRequirements["network"],
    asset: rail.asset,
    amount: amount.toString(),
    payTo,
    maxTimeoutSeconds: 0,
    extra: {},
  };
  return {
    key,
    aliases,
    rail: name,
    payer,
    subject,
    subjectHash: requestHash(subject),
    // The payer's own payload is lost; its replay is known by the signature in it.
    payload: { x402Version: 2, accepted: requirement, payload: {} },
    requirement,
    evidence,
    createdAt: options.clock.now(),
  };
}
