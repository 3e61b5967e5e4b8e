import { searchAttestations } from "../audit/find-attestation.ts";
import { findPayment, type KeyedPayment } from "../audit/find-payment.ts";
import { type Call, type CallRequest, payloadOf } from "../calls/call.ts";
import type { Journal } from "../calls/journal.ts";
import { beginCall, isUnpaid, reduce } from "../calls/machine.ts";
import type { ChainName } from "../chains/chain.ts";
import { configInvalid, type Settings } from "../config/config.ts";
import { attestorNotes } from "../ledger/search.ts";
import { type Clock, systemClock } from "../lib/clock.ts";
import { ServiceError } from "../lib/errors.ts";
import { exactRequirement } from "../payment/payment-option.ts";
import type { RailFacts } from "../payment/rails/rail.ts";
import { settlementReceipt } from "../payment/receipt.ts";
import type { Evidence } from "../subjects/product.ts";
import { createProducts } from "../subjects/products.ts";
import {
  attestSubject,
  blockSubject,
  inclusionSubject,
  requestHash,
  type Subject,
  unfit,
} from "../subjects/subject.ts";
import { asAttested, type SearchOptions } from "./lost-attestation.ts";
import { type OperatorOptions, openSession } from "./session.ts";

/** A payment that an operator binds to a request. */
export type Adoption = {
  /** A payment key, or the id of the payment's transaction. */
  target: string;
  /** What it paid for, as the request named it: a transaction, a block, or a transaction in a block. */
  subject: {
    txid?: string | undefined;
    chain?: ChainName | undefined;
    height?: number | undefined;
  };
  /** Called when rounds of the ledger must pass first, with the last of them. */
  onWait(round: number): void;
};

/**
 * Binds a payment that the journal has lost to a request; the service continues with it.
 * @returns the call as it was committed
 * @throws ServiceError; Problem when the source cannot be attested; Error when the journal cannot be opened
 */
export async function adoptPayment(settings: Settings, adoption: Adoption, options: OperatorOptions): Promise<Call> {
  await using session = await openSession(settings, options);
  const { chains, history, signal } = session;
  const journal = await session.journal();
  const networks = await session.networks();
  const { address: algorandAddress, caip2: ledger, rounds } = networks.ledger;
  const subject = subjectOf(adoption.subject, networks.chains);
  const { keySha256, kid } = await session.signer();
  if (history.keys.at(-1)?.kid !== kid)
    throw configInvalid("attestor.pq_seed is not the seed of the key history's current key.");
  return await adopt(adoption.target, subject, {
    journal,
    rails: networks.rails,
    reader: chains.ledgerHeights,
    readers: chains.readers,
    since: await session.since(),
    products: createProducts(networks.chains),
    notes: (span) => attestorNotes(chains.ledger, [algorandAddress], span),
    attestor: { algorandAddress, keySha256, ledger },
    rounds,
    clock: systemClock,
    signal,
    onWait: adoption.onWait,
  });
}

/** @throws request_unfit */
function subjectOf({ txid, chain, height }: Adoption["subject"], configured: ReadonlyMap<ChainName, unknown>): Subject {
  if (height === undefined) return attestSubject({ txid: txid ?? "", chain }, configured);
  if (chain === undefined) throw unfit("chain", "must be given with a height");
  if (txid === undefined) return blockSubject({ chain, height }, configured);
  return inclusionSubject({ chain, txId: txid, height }, configured);
}

export type AdoptionOptions = SearchOptions & {
  journal: Pick<Journal, "find" | "insert" | "update" | "payees" | "evidenceOf">;
  rails: readonly RailFacts[];
  clock: Pick<Clock, "now">;
};

/**
 * Binds a payment that its chain shows, and that the journal does not know, to a request. The payer's replay is then
 * answered as if the journal had never lost it.
 *
 * The lost call may already have an attestation. Then the new call takes it over, provided that it has the same
 * subject. If the ledger has none, this waits until none of the lost call's can be confirmed any more. No process may
 * run the lost call in the meantime.
 * @param target a payment key, or the id of the payment's transaction
 * @returns the call: `signed` if it took over an attestation, else `paid`; the service continues with it
 * @throws ServiceError; Problem when the subject cannot be attested
 */
export async function adopt(target: string, subject: Subject, options: AdoptionOptions): Promise<Call> {
  const { journal, products, signal } = options;
  const payment = await findPayment(target, options);
  const begun = await findBegun(payment, subject, journal);
  const fetched =
    (begun && (await journal.evidenceOf(begun.key))) ?? (await products[subject.kind].evidence(subject, signal));
  const lost = await searchAttestations([payment.key], options)(payment.key);
  const evidence = lost ? asAttested(fetched, lost, payment, options) : fetched;

  const call = begun ?? beginCall(requestFor(payment, subject, evidence, options));
  if (!begun && (await journal.insert(call)) !== call) throw alreadyKnown(payment);
  const { transaction, height } = payment;
  const receipt = settlementReceipt(payment, call.requirement, { success: true, transaction });
  const adopted = reduce(call, {
    type: "payment_adopted",
    proof: { transaction, height, final: true },
    receipt,
    ...(lost && { attempt: lost.attempt }),
  });
  await journal.update(adopted);
  return adopted;
}

/**
 * Finds the call of an adoption that was interrupted between its commits. @throws not_allowed when it is another call
 */
async function findBegun(
  { key, aliases, ...payment }: KeyedPayment,
  subject: Subject,
  journal: AdoptionOptions["journal"],
): Promise<Call | undefined> {
  for (const name of [key, ...aliases]) {
    const known = await journal.find(name);
    if (!known) continue;
    const isBegun = known.key === key && isUnpaid(known.state) && Object.keys(payloadOf(known).payload).length === 0;
    if (!isBegun) throw alreadyKnown({ key, aliases, ...payment }, known);
    if (known.subjectHash === requestHash(subject)) return known;
    throw new ServiceError(
      "not_allowed",
      `An adoption of ${key} was begun for ${wordsFor(known.subject)}: name that subject.`,
    );
  }
  return undefined;
}

function alreadyKnown({ key }: KeyedPayment, call?: Call): ServiceError {
  const where = call ? ` It is ${call.state}, for ${wordsFor(call.subject)}.` : "";
  return new ServiceError("not_allowed", `The journal already has a call for ${key}.${where}`);
}

function wordsFor(subject: Subject): string {
  switch (subject.kind) {
    case "transaction":
      return `the ${subject.chain} transaction ${subject.id}`;
    case "block":
      return `the ${subject.chain} block ${subject.height}`;
    case "inclusion":
      return `the ${subject.chain} transaction ${subject.id} in block ${subject.height}`;
    case "batch":
      return `a batch of ${subject.items.length} transactions`;
  }
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
  const requirement = exactRequirement(rail, { amount, payTo, maxTimeoutSeconds: 0, extra: {} });
  return {
    key,
    aliases,
    rail: name,
    payer,
    subject,
    subjectHash: requestHash(subject),
    // The payer's own payload is lost; its replay is recognized by its signature.
    payload: { x402Version: 2, accepted: requirement, payload: {} },
    requirement,
    evidence,
    createdAt: options.clock.now(),
  };
}
