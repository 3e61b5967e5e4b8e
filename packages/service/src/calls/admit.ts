import { canonicalize } from "@attestd/proof/canonical";
import type { JsonObject } from "@attestd/proof/json";
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import type { Logger } from "pino";
import type { ChainName } from "../chains/chain.ts";
import type { Clock } from "../clock.ts";
import { DECLARED_EXTENSIONS, identifierAlias } from "../payment/identifier.ts";
import type { InterfaceOption, Offers } from "../payment/offers.ts";
import { type Payment, PaymentRefused, type Rail, type RailName } from "../payment/rails/rail.ts";
import { Problem } from "../problems.ts";
import type { Products } from "../subjects/product.ts";
import { requestHash, type Subject } from "../subjects/subject.ts";
import { asking, pending, refusable, refusal, SAME_HEADER } from "./asking.ts";
import { createBacking } from "./backing.ts";
import type { Call } from "./call.ts";
import type { Capacity } from "./capacity.ts";
import { isFinal, prepare } from "./machine.ts";
import type { Runner } from "./runner.ts";
import type { Store } from "./store.ts";

/** What a paid request comes to; each door words it in its own way. Everything else is a thrown Problem. */
export type Outcome = Delivered | PaymentRequired;

export type Delivered = {
  kind: "delivered";
  /** The bundle, byte for byte as before. */
  body: string;
  /** The value of PAYMENT-RESPONSE. */
  receipt: string;
};

/** It is safe to sign a new payment. */
export type PaymentRequired = {
  kind: "payment_required";
  /** Why the payment that came was not taken. */
  error?: string;
  accepts: PaymentRequirements[];
  /** The same offers in the interface's own fields. */
  options: InterfaceOption[];
  extensions: Record<string, unknown>;
  /** PAYMENT-RESPONSE of a settlement that failed. */
  receipt?: string;
};

export type AdmissionOptions = {
  store: Store;
  runner: Runner;
  capacity: Capacity;
  offers: Offers;
  /** Every rail that we can read, switched on or not. */
  rails: readonly Rail[];
  products: Products;
  /** Whether an address is, or ever was, a payee of ours. */
  isPayee(rail: Rail, address: string): boolean;
  log: Logger;
  clock: Clock;
  /** How long a paid request waits for its bundle, in ms. */
  waitMs: number;
  /** The one deadline of everything that is asked before the call is prepared, in ms. */
  deadlineMs: number;
};

export type Admit = (subject: Subject, payload: PaymentPayload | undefined) => Promise<Outcome>;

/**
 * The order of checks of a paid request, one function for every door (design.md, "Endpoints").
 *
 * Nothing is written before the payer's signature has been verified; a payment that is known is answered from its row
 * and nothing else is asked; no 402 is given for a payment that the chain shows as spent on us.
 */
export function createAdmission(options: AdmissionOptions): Admit {
  const { store, runner, capacity, offers, rails, products, log, clock } = options;
  const backing = createBacking(store);

  return async (subject, payload) => {
    if (!payload) return paymentRequired(offers, subject.chain);
    const read = refusable(() => readPayment(payload));
    if (read instanceof PaymentRefused) return paymentRequired(offers, subject.chain, read.message);
    const { rail, payment } = read;
    const signal = clock.timeout(options.deadlineMs);

    const known = await store.find(payment.key);
    if (known) return answerKnown(known, subject, rail, payment, signal);

    const admitted = await admitNew(subject, rail, payment, signal);
    return admitted instanceof PaymentRefused ? refuse(subject, rail, payment, admitted, signal) : deliver(admitted);
  };

  /** Finds the rail that the payment names, on or off, and the payment's key. @throws PaymentRefused */
  function readPayment(payload: PaymentPayload): { rail: Rail; payment: Payment } {
    const rail = rails.find((candidate) => candidate.isNetwork(payload.accepted.network));
    if (!rail) throw new PaymentRefused(`accepted.network ${JSON.stringify(payload.accepted.network)} is not offered`);
    return { rail, payment: rail.read(payload) };
  }

  async function answerKnown(
    call: Call,
    subject: Subject,
    rail: Rail,
    payment: Payment,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const same =
      canonicalize(call.payload.payload as JsonObject) === canonicalize(payment.payload.payload as JsonObject);
    // A stranger who knows the key but has no signature must learn nothing of the state behind it.
    if (!same && !(await signed(rail, payment, signal)))
      return paymentRequired(offers, subject.chain, "the payer's signature does not fit the payment");
    return deliver(bound(call, payment, subject));
  }

  /** @throws Problem unless the call is for this subject, and of this payment or of one that its payer named alike */
  function bound(call: Call, payment: Payment, subject: Subject, alias?: string): Call {
    const known = call.key === payment.key || (alias !== undefined && call.aliases.includes(alias));
    if (known && call.subjectHash === requestHash(subject)) return call;
    throw new Problem("payment_bound_to_other_request", "This payment was first sent with another request.");
  }

  /** The name that the payer gave to this purchase, if any, and the purchase that has it already. */
  async function named(payment: Payment): Promise<{ alias?: string; earlier?: Call }> {
    for (let attempt = 0; ; attempt++) {
      const alias = identifierAlias(payment, attempt);
      const earlier = alias === undefined ? undefined : await store.find(alias);
      if (earlier?.state !== "void") return { ...(alias && { alias }), ...(earlier && { earlier }) };
    }
  }

  async function signed(rail: Rail, payment: Payment, signal: AbortSignal): Promise<boolean> {
    const signature = await rail.signature(payment);
    if (signature !== "on_chain") return signature === "valid";
    return asking(() => rail.onChain(payment, signal));
  }

  /** The checks of a payment that we do not know, in their order. @returns its call, or why it is refused */
  async function admitNew(
    subject: Subject,
    rail: Rail,
    payment: Payment,
    signal: AbortSignal,
  ): Promise<Call | PaymentRefused> {
    const requirement = refusable(() => offers.match(payment.payload, rail.name, subject.chain));
    if (requirement instanceof PaymentRefused) return requirement;
    const signature = await rail.signature(payment);
    if (signature === "invalid") return new PaymentRefused("the payer's signature does not fit the payment");
    const fault = await rail.check(payment, requirement).then(() => undefined, refusal);
    if (fault) return fault;

    const leave = capacity.enter();
    try {
      if (signature === "on_chain" && !(await asking(() => rail.onChain(payment, signal))))
        return new PaymentRefused("the payer's signature does not fit the payment");
      const { alias, earlier } = await named(payment);
      // The new payment is left unsettled: its payer has bought this already.
      if (earlier) return bound(earlier, payment, subject, alias);
      const verdict = await asking(() => facilitatorOf(rail.name).verify(payment.payload, requirement, signal));
      if (!verdict.valid) return new PaymentRefused(verdict.reason);
      const release = await asking(() => backing.promise(rail, payment, signal));
      const holder = await begin(subject, payment, requirement, alias, signal).finally(release);
      return bound(holder, payment, subject, alias);
    } finally {
      leave();
    }
  }

  /** @returns the call that holds the payment, under way: a new one, or one that another request was the first to begin */
  async function begin(
    subject: Subject,
    payment: Payment,
    requirement: PaymentRequirements,
    alias: string | undefined,
    signal: AbortSignal,
  ): Promise<Call> {
    const evidence = await asking(() => products[subject.kind].evidence(subject, signal));
    const call = prepare({
      key: payment.key,
      aliases: alias === undefined ? payment.aliases : [...payment.aliases, alias],
      rail: payment.rail,
      payer: payment.payer,
      subject,
      subjectHash: requestHash(subject),
      payload: payment.payload,
      requirement,
      evidence,
      createdAt: clock.now(),
    });
    const holder = await store.insert(call);
    void runner.start(holder);
    return holder;
  }

  function facilitatorOf(rail: RailName) {
    const tender = offers.tender(rail);
    if (!tender) throw new Error(`an offer on ${rail} has a tender`);
    return tender.facilitator;
  }

  /**
   * A 402, unless the payment was well signed, is to us, and was spent: then another one must not be asked for.
   *
   * The row is looked for again after the chain was asked: the payment may have come by another request meanwhile, and
   * its being settled for that one may be what it was refused for.
   */
  async function refuse(
    subject: Subject,
    rail: Rail,
    payment: Payment,
    { message }: PaymentRefused,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const isOurs = options.isPayee(rail, payment.payTo) && (await signed(rail, payment, signal));
    const spent = isOurs && (await isSpent(rail, payment, signal));
    const known = await store.find(payment.key);
    if (known) return answerKnown(known, subject, rail, payment, signal);
    if (!spent) return paymentRequired(offers, subject.chain, message);
    log.error({ key: payment.key, payer: payment.payer }, "payment_unaccounted: paid on chain, not in the journal");
    throw new Problem(
      "payment_unaccounted",
      "The chain shows this payment as made, and our journal does not know it.",
      { retryAfter: 300, members: SAME_HEADER },
    );
  }

  async function isSpent(rail: Rail, payment: Payment, signal: AbortSignal): Promise<boolean> {
    return rail.spent(payment, signal).catch((cause) => {
      throw new Problem("payment_unknown", "The payment's chain cannot be read now.", {
        retryAfter: 10,
        members: SAME_HEADER,
        cause,
      });
    });
  }

  /** The answer to a known payment, from its row alone; the wait for it where it is still under way. */
  async function deliver(call: Call): Promise<Outcome> {
    const end = isFinal(call.state) ? call : await runner.wait(call, clock.timeout(options.waitMs));
    switch (end.state) {
      case "done":
      case "loss":
        return delivered(end);
      case "void":
        return {
          ...paymentRequired(offers, call.subject.chain, end.reason),
          ...(end.receipt && { receipt: end.receipt }),
        };
      case "refunded":
        throw new Problem("payment_refunded", "The operator gave this payment back.");
      case "prepared":
      case "settling":
        throw pending("settlement_pending", "The payment is being settled.");
      default:
        throw pending("attestation_pending", "The payment was made; the attestation is not on the ledger yet.");
    }
  }
}

/** @throws Error when the call has no bundle: a defect of ours */
function delivered({ key, bundle, receipt }: Call): Delivered {
  if (!bundle || receipt === undefined) throw new Error(`the delivered call of ${key} has no bundle`);
  return { kind: "delivered", body: bundle.body, receipt };
}

/** The offers for a source, or every one for a request that names none. */
export function paymentRequired(offers: Offers, chain: ChainName | undefined, error?: string): PaymentRequired {
  return {
    kind: "payment_required",
    accepts: offers.for(chain),
    options: offers.optionsFor(chain),
    extensions: DECLARED_EXTENSIONS,
    ...(error !== undefined && { error }),
  };
}
