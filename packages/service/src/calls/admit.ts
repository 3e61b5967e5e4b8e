import type { PaymentPayload } from "@x402/core/types";
import { hasCode } from "../errors.ts";
import type { Match } from "../payment/match.ts";
import type { Offers } from "../payment/offers.ts";
import { acceptedAmount } from "../payment/payment-option.ts";
import {
  type AdmissionRail,
  type Payment,
  type PaymentRefused,
  paymentRefused,
  type RailFacts,
} from "../payment/rails/rail.ts";
import { forwardedPayment } from "../payment/resource.ts";
import { verifyPayment } from "../payment/verify-payment.ts";
import { Problem } from "../problems.ts";
import { requestHash, type Subject, saleOf } from "../subjects/subject.ts";
import { currentContext } from "../tracing/context.ts";
import { inSpan } from "../tracing/span.ts";
import { rowOf } from "./apart.ts";
import { createBacking } from "./backing.ts";
import type { Bundles } from "./bundles.ts";
import type { Call } from "./call.ts";
import type { Capacity } from "./capacity.ts";
import { type CopiedJournal, mayHaveLost } from "./copied.ts";
import { bound, createHolders } from "./holders.ts";
import type { Expectation, Journal, KnownCall } from "./journal.ts";
import { admissionJournal } from "./journal-failures.ts";
import { beginCall, isFinal, isUnpaid } from "./machine.ts";
import { namesOf } from "./names.ts";
import { type Outcome, outcomeOf, paymentRequired } from "./outcome.ts";
import type { EffectsOptions } from "./perform.ts";
import { inDoubt, mapUpstreamErrors, paymentUnknown } from "./problems.ts";
import { createRefusal, isSpent, type Request, type Terms } from "./refusal.ts";
import type { Runner } from "./runner.ts";
import { createUnpaidReads } from "./unpaid-reads.ts";

export type AdmissionOptions = Pick<EffectsOptions, "products" | "resourceOf" | "log" | "clock"> & {
  journal: Journal & Pick<CopiedJournal, "mayLackSince">;
  /** Reads what was delivered. */
  bundles: Pick<Bundles, "of">;
  runner: Runner;
  capacity: Capacity;
  offers: Offers;
  /** Every rail that we can read, switched on or not. */
  rails: readonly AdmissionRail[];
  /** Whether an address is, or ever was, a payee of ours. */
  isPayee(rail: RailFacts, address: string): boolean;
  /** How long a paid request waits for its bundle, in ms. */
  waitMs: number;
  /** The one deadline of all questions before the call is committed, in ms. */
  deadlineMs: number;
};

/** What a transport may add to a purchase beside its payment. */
export type Purchase = {
  /**
   * A name that the transport gives the purchase, to find it again (`Recall`). Another payment under the same name is left
   * unsettled, and gets the outcome of the first.
   */
  name?: string;
  /** Whether to wait for the bundle; true unless given. */
  wait?: boolean;
};

export type Admit = (subject: Subject, payload: PaymentPayload, purchase?: Purchase) => Promise<Outcome>;

const MISFIT = "the payer's signature does not fit the payment";
/** What follows a facilitator's reason. */
const STILL_LIVE =
  "; a facilitator says so, and the payment may still be taken until it expires: send it again before you sign another";

/**
 * The order of checks of a paid request, one function for every transport.
 *
 * A known payment is answered from its row, without any other question. A request without the payer's own signature gets
 * one answer, whatever is known of the payment; nothing is written or promised for it, and no facilitator is asked. The
 * chain is asked only about a payment that we could have taken, and counts against `capacity`. A payment that the chain
 * shows as spent on us never gets a 402, nor does one that another request brought while this one was under way. One that
 * facilitators alone refuse is remembered before the 402 (refused.ts).
 *
 * A payment without a call may have been made all the same, where its call may be lost or a facilitator refused it before: no
 * answer says of it that nothing was charged, unless the chain was asked.
 */
export function createAdmission(options: AdmissionOptions): Admit {
  const { runner, capacity, offers, rails, products, bundles, log, clock } = options;
  const journal = admissionJournal(options.journal, log);
  const backing = createBacking(journal);
  const holders = createHolders(journal, clock);
  const unpaidReads = createUnpaidReads(clock);
  const refuse = createRefusal({ journal, holders, begin, log });

  return (...request) =>
    admit(...request).catch((error: unknown) => {
      // Before a source is read the chain was asked (`admitNew`): only what its source is at fault for is no 503.
      const isUnasked = error instanceof Problem && error.status === 503;
      throw isUnasked && mayHaveLost(options.journal, clock.now()) ? inDoubt(error) : error;
    });

  async function admit(...[subject, payload, { name, wait = true } = {}]: Parameters<Admit>): Promise<Outcome> {
    const read = await readPayment(payload).catch(refusal);
    if (hasCode(read, "payment_refused")) return paymentRequired(offers, saleOf(subject), read.message);
    const context = currentContext();
    if (context) context.call.key = read.payment.key;
    const request = (): Request => ({ ...read, subject, name, signal: clock.timeout(options.deadlineMs) });

    let call = await inSpan("admission", {}, () => callFor(request()));
    if (wait && !hasCode(call, "payment_refused") && !isFinal(call.state))
      call = await runner.wait(call, clock.timeout(options.waitMs), isHeldUp);
    if (hasCode(call, "payment_refused")) return paymentRequired(offers, saleOf(subject), call.message);
    if (call.state !== "void" || call.key === read.payment.key) return outcomeOf(call, offers, bundles);
    // The earlier payment of this name is void; this one may be spent all the same.
    using held = new DisposableStack();
    held.defer(capacity.enter());
    const own = await refuse(request(), paymentRefused("the earlier payment of that name is void"));
    return outcomeOf(hasCode(own, "payment_refused") ? call : own, offers, bundles);
  }

  /** Whether the payment of a call is not made, and cannot be made now. */
  function isHeldUp({ state, rail }: Call): boolean {
    return isUnpaid(state) && offers.closure(rail) !== undefined;
  }

  /** @returns the payment, with the rail that it names, enabled or not. @throws PaymentRefused */
  async function readPayment(payload: PaymentPayload): Promise<{ rail: AdmissionRail; payment: Payment }> {
    const rail = rails.find((candidate) => candidate.isNetwork(payload.accepted.network));
    if (!rail) throw paymentRefused(`accepted.network ${JSON.stringify(payload.accepted.network)} is not offered`);
    return { rail, payment: rail.read(payload) };
  }

  /** @returns the call of the payment, or of the earlier purchase of its name; or why there is none */
  async function callFor(request: Request): Promise<Call | PaymentRefused> {
    const { rail, payment, signal } = request;
    using announced = new DisposableStack();
    announced.defer(holders.announce(payment));
    const known = await holders.look(payment);
    // Byte for byte the payment whose signature was verified when it first came.
    if (known?.call) return holders.whole(known, request);
    const signature = await rail.signature(payment);
    if (signature === "invalid") return paymentRefused(MISFIT);
    let isSigned = signature === "valid";
    if (known && isSigned) return holders.whole(known, request);
    try {
      const expectation = known ? undefined : await holders.expect(payment, isSigned);
      announced.defer(() => expectation?.end());
      // A known payment is answered even when nothing can be sold on its rail now.
      const offered = known ? undefined : await mapUpstreamErrors(() => checkOffered(request).catch(refusal));
      if (hasCode(offered, "payment_refused") && !(await couldBeTaken(request))) {
        announced.dispose();
        return (await holders.findBeforeRefusal(request, isSigned)) ?? offered;
      }
      using held = new DisposableStack();
      held.defer(capacity.enter());
      isSigned ||= await mapUpstreamErrors(() => rail.onChain(payment, signal));
      if (!isSigned) {
        announced.dispose();
        return (await holders.findBeforeRefusal(request, false)) ?? paymentRefused(MISFIT);
      }
      if (known || !offered) return holders.whole(known as KnownCall, request);
      const admitted = hasCode(offered, "payment_refused") ? offered : await admitNew(request, offered, expectation);
      if (!hasCode(admitted, "payment_refused")) return admitted;
      announced.dispose();
      return await refuse(request, admitted, hasCode(offered, "payment_refused") ? undefined : offered);
    } catch (error) {
      const doubted = inDoubt(error);
      if (doubted === error) throw error;
      // The request that has brought the same payment meanwhile may itself be what uses the capacity up.
      const holder = await holders.find(request, isSigned);
      if (holder) return holder;
      throw isSigned && (await journal.refused(payment.key)) ? doubted : error;
    }
  }

  /**
   * @returns the offer that the payment fits now
   * @throws PaymentRefused when it fits none; FacilitatorError when nothing can be sold on its rail now; ProviderError
   */
  async function checkOffered({ rail, payment, subject, signal }: Request): Promise<Match> {
    const match = offers.match(payment.payload, rail.name, saleOf(subject));
    await rail.check(payment, match.requirement, signal);
    return match;
  }

  /**
   * Whether we could have taken the payment at some time, at any price and by any fee payer: its layout is right, it goes
   * to a payee of ours, and it moves the amount that its payer has accepted.
   */
  async function couldBeTaken({ rail, payment }: Request): Promise<boolean> {
    if (!options.isPayee(rail, payment.payTo) || acceptedAmount(payment.payload) !== `${payment.amount}`) return false;
    return (await rail.checkLayout(payment).catch(refusal)) === undefined;
  }

  /** Checks further a payment that is well signed and fits an offer. @returns its call, or why it is refused */
  async function admitNew(
    request: Request,
    match: Match,
    expectation: Expectation | undefined,
  ): Promise<Call | PaymentRefused> {
    const { subject, rail, payment, name, signal } = request;
    const { names, earlier } = await namesOf(journal, payment, name);
    // The new payment is left unsettled: this has been bought already.
    if (earlier) return bound(earlier, request, names);
    unpaidReads.check(readerOf(payment), subject);
    // Before the facilitator is asked: many payments on one small balance must not use up its time.
    const release = await mapUpstreamErrors(() => backing.promise(rail, payment, signal)).catch(refusal);
    if (hasCode(release, "payment_refused")) return release;
    using promised = new DisposableStack();
    promised.defer(release);
    const forwarded = forwardedPayment(payment, match.requirement, options.resourceOf(subject));
    const limits = { signal, limitMs: options.deadlineMs, clock, log };
    const verified = await mapUpstreamErrors(() => verifyPayment(forwarded, match, limits));
    if (!verified.valid) return paymentRefused(`${verified.reason}${STILL_LIVE}`, { byFacilitator: true });
    // Its call may be lost, and attested for: `refuse` looks at all that shows that.
    if (mayHaveLost(options.journal, clock.now()) && (await isSpent(request)))
      return paymentRefused("the payment was made before");
    const { requirement } = match;
    const { facilitator } = verified;
    return bound(await begin(request, { requirement, facilitator, names }, expectation), request, names);
  }

  /** @returns the call of the payment, started: a new one, or that of another request which inserted it first */
  async function begin(
    { subject, payment, signal }: Request,
    { requirement, facilitator, names, isMade = false }: Terms,
    expectation?: Expectation,
  ): Promise<Call> {
    const { key, rail, payer, payload } = payment;
    const read = () => products[subject.kind].evidence(subject, signal);
    const evidence = await mapUpstreamErrors(() => unpaidReads.run(readerOf(payment), subject, read));
    const aliases = [...payment.aliases, ...names];
    const bought = { subject, subjectHash: requestHash(subject), requirement, evidence };
    const settler = facilitator === undefined ? {} : { facilitator };
    const begun = beginCall({ key, aliases, rail, payer, payload, ...bought, ...settler, createdAt: clock.now() });
    const call = isMade ? { ...begun, settlements: 0 } : begun;
    const holder = await journal.insert(call, expectation).catch((error) => {
      if (!hasCode(error, "expectation_lost")) throw error;
      throw paymentUnknown("The connection to the journal broke while the payment was being checked.", error);
    });
    void runner.start(holder === call ? rowOf(call) : holder, holder === call);
    return holder;
  }
}

/** For whom sources are read. */
function readerOf({ rail, payer }: Payment): string {
  return `${rail} ${payer}`;
}

/** @throws the error unless it is a refusal of the payment */
function refusal(error: unknown): PaymentRefused {
  if (hasCode(error, "payment_refused")) return error;
  throw error;
}
