import type { PaymentPayload } from "@x402/core/types";
import type { Logger } from "pino";
import { type Clock, type Deadline, withDeadline } from "../lib/clock.ts";
import { problemFor, saysUncharged } from "../lib/problems.ts";
import { currentContext } from "../observe/tracing/context.ts";
import { inSpan } from "../observe/tracing/span.ts";
import { stage } from "../observe/tracing/stage.ts";
import type { Match } from "../payment/match.ts";
import type { Offers } from "../payment/offers.ts";
import { acceptedAmount } from "../payment/payment-option.ts";
import type { AdmissionRail, Payment, RailFacts } from "../payment/rails/rail.ts";
import { judged, Refusal } from "../payment/refusal.ts";
import { forwardedPayment, type Resource } from "../payment/resource.ts";
import { verifyPayment } from "../payment/verify-payment.ts";
import type { Products } from "../subjects/product.ts";
import { requestHash, type Subject, saleOf } from "../subjects/subject.ts";
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
import { type Outcome, outcomeOf, paymentRequired, unanswered } from "./outcome.ts";
import { inDoubt, unjudged } from "./problems.ts";
import { createRefusal, isSpent, type Request, type Terms } from "./refusal.ts";
import type { Runner } from "./runner.ts";
import { createUnpaidReads } from "./unpaid-reads.ts";

export type AdmissionOptions = {
  journal: Journal & Pick<CopiedJournal, "mayLackSince">;
  /** Reads what was delivered. */
  bundles: Pick<Bundles, "of">;
  runner: Runner;
  capacity: Capacity;
  offers: Offers;
  /** Every rail that we can read, enabled or not. */
  rails: readonly AdmissionRail[];
  /** Whether an address is, or ever was, our payee. */
  isPayee(rail: RailFacts, address: string): boolean;
  products: Products;
  /** Returns what is sold for a subject, for the facilitator. */
  resourceOf(subject: Subject): Resource;
  /** How long a paid request waits for its bundle, in ms. */
  waitMs: number;
  clock: Clock;
  log: Logger;
};

/** What a transport may add to a purchase besides its payment. */
export type Purchase = {
  /**
   * A name that the transport gives the purchase, to find it again (`Recall`). Another payment under the same name is
   * left unsettled, and gets the outcome of the first.
   */
  name?: string;
  /** Whether to wait for the bundle; default: true. */
  wait?: boolean;
};

export type Admit = (subject: Subject, payload: PaymentPayload, purchase?: Purchase) => Promise<Outcome>;

/** The time for all questions before the call is committed, in ms. */
const QUESTIONS_MS = 20_000;
/** The time to look up a payment that no facilitator has called valid, in ms. */
const LAST_LOOK_MS = 10_000;
const MISFIT = new Refusal("the payer's signature does not fit the payment");

/**
 * The order of checks of a paid request, one function for every transport.
 *
 * A known payment is answered from its row, without any other question. A request without the payer's own signature gets
 * one answer, whatever is known of the payment; nothing is written or promised for it, and no facilitator is asked. The
 * chain is asked only about a payment that we could have taken, and the question counts against `capacity`. A payment
 * that the chain shows as spent on us never gets a 402, nor does one that another request brought while this one was
 * being checked. A payment that facilitators alone refuse, or do not judge, is remembered before the answer (refused.ts).
 *
 * A payment without a call may still have been made, if its call may be lost or a facilitator refused it before: no
 * answer to it says that nothing was charged, unless the chain was asked.
 *
 * The checks throw problems and the errors of upstreams; both become outcomes here, and nowhere else.
 */
export function createAdmission(options: AdmissionOptions): Admit {
  const { runner, capacity, offers, rails, products, bundles, log, clock } = options;
  const journal = admissionJournal(options.journal, log);
  const backing = createBacking(journal);
  const holders = createHolders(journal);
  const unpaidReads = createUnpaidReads(clock);
  const hasLosses = () => mayHaveLost(options.journal, clock.now());
  const refuse = createRefusal({ journal, holders, begin, mayHaveLost: hasLosses, log });

  return async (...request) => {
    try {
      return await admit(...request);
    } catch (error) {
      const problem = problemFor(error);
      if (!problem) throw error;
      // The chain was asked before a source is read (`admitNew`), and only a fault of the source is no 503.
      const isUnasked = problem.status === 503 && hasLosses();
      return unanswered(isUnasked ? inDoubt(problem) : problem);
    }
  };

  async function admit(...[subject, payload, { name, wait = true } = {}]: Parameters<Admit>): Promise<Outcome> {
    const refused = ({ reason, failure }: Refusal) => {
      if (failure) throw unjudged(failure);
      return paymentRequired(offers, saleOf(subject), reason);
    };
    const read = await readPayment(payload);
    if (read instanceof Refusal) return refused(read);
    const { key } = read.payment;
    const context = currentContext();
    if (context) context.call.key = key;
    const ask = <T>(questions: (request: Request) => Promise<T>) =>
      withDeadline(clock, QUESTIONS_MS, (deadline) => questions({ ...read, subject, name, deadline }));

    const found = await inSpan("admission", {}, () => ask(callFor));
    if (found instanceof Refusal) return refused(found);
    const isAwaited = wait && !isFinal(found.state);
    const end = () => withDeadline(clock, options.waitMs, ({ signal }) => runner.wait(found, signal, isHeldUp));
    const call = isAwaited ? await end() : found;
    if (call.state !== "void" || call.key === key) return outcomeOf(call, offers, bundles);
    // The earlier payment of this name is void; this one may still be spent.
    using held = new DisposableStack();
    held.defer(capacity.enter());
    const own = await ask((request) => refuse(request, new Refusal("the earlier payment of that name is void")));
    return outcomeOf(own instanceof Refusal ? call : own, offers, bundles);
  }

  /** Whether the payment of a call is not made, and cannot be made now. */
  function isHeldUp({ state, rail }: Call): boolean {
    return isUnpaid(state) && offers.closure(rail) !== undefined;
  }

  /** Reads a payment on the rail that it names, enabled or not. */
  async function readPayment(payload: PaymentPayload): Promise<{ rail: AdmissionRail; payment: Payment } | Refusal> {
    const { network } = payload.accepted;
    const rail = rails.find((candidate) => candidate.isNetwork(network));
    if (!rail) return new Refusal(`accepted.network ${JSON.stringify(network)} is not offered`);
    return judged(() => ({ rail, payment: rail.read(payload) }));
  }

  /** Returns the call of the payment, or of the earlier purchase of its name; or why there is none. */
  async function callFor(request: Request): Promise<Call | Refusal> {
    const { rail, payment, deadline } = request;
    using announced = new DisposableStack();
    announced.defer(holders.announce(payment));
    const known = await holders.look(payment);
    // Byte for byte the payment whose signature was verified when it first came.
    if (known?.call) return holders.whole(known, request);
    const signature = await rail.signature(payment);
    if (signature === "invalid") return MISFIT;
    let isSigned = signature === "valid";
    if (known && isSigned) return holders.whole(known, request);
    const unlessHeld = async (refusal: Refusal) => {
      announced.dispose();
      return (await holders.findBeforeRefusal(request, isSigned)) ?? refusal;
    };
    try {
      const expectation = known ? undefined : await holders.expect(payment, isSigned);
      announced.defer(() => expectation?.end());
      // A known payment is answered even when nothing can be sold on its rail now.
      const offered = known ? undefined : await checkOffered(request);
      if (offered instanceof Refusal && !(await couldBeTaken(request))) return await unlessHeld(offered);
      using held = new DisposableStack();
      held.defer(capacity.enter());
      isSigned ||= await rail.onChain(payment, deadline.signal);
      if (!isSigned) return await unlessHeld(MISFIT);
      if (known || !offered) return await holders.whole(known as KnownCall, request);
      const isRefused = offered instanceof Refusal;
      const admitted = isRefused ? offered : await admitNew(request, offered, expectation);
      if (!(admitted instanceof Refusal)) return admitted;
      announced.dispose();
      const refused = (deadline: Deadline) =>
        refuse({ ...request, deadline }, admitted, isRefused ? undefined : offered);
      // A facilitator that never answers uses up the time for all questions.
      return await (admitted.byFacilitator ? withDeadline(clock, LAST_LOOK_MS, refused) : refused(deadline));
    } catch (error) {
      const problem = problemFor(error);
      if (!problem || !saysUncharged(problem.code)) throw error;
      // The request that has brought the same payment meanwhile may itself be what uses the capacity up.
      const holder = await holders.find(request, isSigned);
      if (holder) return holder;
      throw isSigned && (await journal.refused(payment.key)) ? inDoubt(problem) : error;
    }
  }

  /**
   * Finds the offer that the payment fits now.
   * @throws rail_closed or facilitator_failed when nothing can be sold on its rail now; ProviderError
   */
  async function checkOffered({ rail, payment, subject, deadline }: Request): Promise<Match | Refusal> {
    const match = offers.match(payment.payload, rail.name, saleOf(subject));
    if (match instanceof Refusal) return match;
    return (await judged(() => rail.check(payment, match.requirement, deadline.signal))) ?? match;
  }

  /**
   * Whether we could have taken the payment at some time, at any price and with any fee payer: its layout is right, it
   * pays a payee of ours, and it moves the amount that its payer has accepted.
   */
  async function couldBeTaken({ rail, payment }: Request): Promise<boolean> {
    if (!options.isPayee(rail, payment.payTo) || acceptedAmount(payment.payload) !== `${payment.amount}`) return false;
    return (await judged(() => rail.checkLayout(payment))) === undefined;
  }

  /** Checks further a payment that is well signed and fits an offer. @returns its call, or why it is refused */
  async function admitNew(
    request: Request,
    match: Match,
    expectation: Expectation | undefined,
  ): Promise<Call | Refusal> {
    const { subject, rail, payment, name, deadline } = request;
    const { requirement } = match;
    const { names, earlier } = await namesOf(journal, payment, name);
    // The new payment is left unsettled: this has been bought already.
    if (earlier) return bound(earlier, request, names);
    unpaidReads.check(readerOf(payment), subject);
    // Before the facilitator is asked: many payments on one small balance must not use up its time.
    const release = await backing.promise(rail, payment, deadline.signal);
    if (release instanceof Refusal) return release;
    using promised = new DisposableStack();
    promised.defer(release);
    const forwarded = forwardedPayment(payment, requirement, options.resourceOf(subject));
    const verified = await verifyPayment(forwarded, match, { deadline, limitMs: QUESTIONS_MS, log });
    if (verified instanceof Refusal) return verified;
    // Its call may be lost, and attested for: `refuse` looks at everything that shows that.
    if (hasLosses() && (await isSpent(request))) return new Refusal("the payment was made before");
    return bound(await begin(request, { requirement, ...verified, names }, expectation), request, names);
  }

  /** Starts the call of the payment. @returns it, or the call of another request that inserted it first */
  async function begin(
    { subject, payment, deadline }: Request,
    { requirement, facilitator, names, isMade = false }: Terms,
    expectation?: Expectation,
  ): Promise<Call> {
    const { key, rail, payer, payload } = payment;
    const read = () => stage("source", {}, () => products[subject.kind].evidence(subject, deadline.signal));
    const evidence = await unpaidReads.run(readerOf(payment), subject, read);
    const aliases = [...payment.aliases, ...names];
    const bought = { subject, subjectHash: requestHash(subject), requirement, evidence };
    const settler = facilitator === undefined ? {} : { facilitator };
    const begun = beginCall({ key, aliases, rail, payer, payload, ...bought, ...settler, createdAt: clock.now() });
    const call = isMade ? { ...begun, settlements: 0 } : begun;
    const holder = await journal.insert(call, expectation);
    void runner.start(holder === call ? rowOf(call) : holder, holder === call);
    return holder;
  }
}

/** Returns for whom sources are read. */
function readerOf({ rail, payer }: Payment): string {
  return `${rail} ${payer}`;
}
