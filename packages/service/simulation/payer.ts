import type { PaymentRequirements } from "@x402/core/types";
import { extractPaymentIdentifier } from "@x402/extensions/payment-identifier";
import { type Call, payloadOf } from "../src/calls/call.ts";
import type { ProblemCode } from "../src/lib/problems.ts";
import type { Subject } from "../src/subjects/subject.ts";
import type { Answer } from "./answers.ts";
import { type Sent, type Signer, toPayload } from "./payload.ts";
import { type Account, type Authorization, PAY_TO, type PaymentChain, PRICE } from "./payments.ts";
import type { Replica } from "./replica.ts";
import type { Scheduler } from "./scheduler.ts";
import { SUBJECTS, UNSOLD } from "./sources.ts";

export type PayerOptions = {
  scheduler: Scheduler;
  chains: readonly PaymentChain[];
  account: Account;
  /** A replica that serves now, as a load balancer picks one. */
  balancer(): Replica | undefined;
  /** Takes note of what was signed. */
  signed(authorization: Authorization): void;
  /** Takes note of a payment that is signed in the place of another. */
  signedAnother(earlier: Authorization, another: Authorization): void;
  healed(): boolean;
  /** Whether blocks may be left behind: then this one signs for long enough that its payments can be made again. */
  forks: boolean;
  /** Whether this one signs for an hour. */
  patient: boolean;
};

/** Problems after which the same request never succeeds. */
const ENDS = new Set<ProblemCode>([
  "payment_bound_to_other_request",
  "source_not_found",
  "source_not_final",
  "source_elsewhere",
  "block_not_found",
]);

/** What is signed for; on whatever network is offered unless one is named. */
type Terms = { amount: bigint; payTo: string; ms: number; identifier?: string; name?: string; network?: string };
const HONEST: Terms = { amount: PRICE, payTo: PAY_TO, ms: 60_000 };
const LONG_MS = 120_000;
/** As long as any payment is taken for. */
const HOUR_MS = 3_600_000;
/** How often it looks whether a payment has expired, and how late the client thinks that a block may be, in ms. */
const EXPIRY_POLL_MS = 5_000;
const MARGIN_MS = 60_000;
/** How often a payment that was made after a 402 is sent again, while nodes may still lag or lie about its source. */
const MOST_TRIALS = 20;
const SIGNERS: readonly Signer[] = [...Array<Signer>(7).fill("key"), "wallet", "program"];

/** A client with a purse. It tries everything that an honest, a hasty or a hostile one would try with one payment. */
export class Payer {
  readonly #options: PayerOptions;
  #tasks = 0;

  constructor(options: PayerOptions) {
    this.#options = options;
  }

  get name(): string {
    return this.#options.account.name;
  }

  /** Makes one payment and sends it, in several ways at once, until it knows how that ended. */
  async purchase(): Promise<void> {
    const { scheduler, account, patient, forks } = this.#options;
    const { random } = scheduler;
    // Who has an hour does not ask every few seconds.
    const pauses = patient ? 20 : 1;
    await scheduler.pause(random.below(15_000), `${account.name} comes`);
    const subject = random.pick(random.chance(0.06) ? UNSOLD : SUBJECTS);
    const sent = await this.#pay(subject, {
      amount: random.chance(0.03) ? PRICE - 1n : PRICE,
      payTo: random.chance(0.03) ? "ANOTHER" : PAY_TO,
      ms: (patient ? HOUR_MS : random.between(12_000, 60_000)) + (forks ? LONG_MS : 0),
      ...(random.chance(0.15) && { identifier: `purchase-of-${account.name}` }),
      ...(random.chance(0.15) && { name: `task/${account.name}/${this.#tasks++}` }),
    });
    const { authorization, identifier, name } = sent;

    const trials: Promise<unknown>[] = [];
    const also = (probability: number, trial: () => Promise<unknown>) => {
      if (random.chance(probability)) trials.push(this.#sooner().then(trial));
    };
    also(0.5, () => this.#send(sent, subject));
    also(0.3, () => this.#send(sent, subject));
    also(0.15, () => this.#insist(sent, random.pick(SUBJECTS), pauses));
    also(0.2, () => this.#send({ ...sent, signature: "bad" }, subject));
    also(0.1, () => this.#send({ ...sent, signature: "none" }, subject));
    // A program signs in one way alone.
    if (sent.by !== "program") also(0.1, () => this.#send({ ...sent, signature: "other" }, subject));
    also(0.1, () => this.#forge(sent, subject));
    also(0.1, () => this.#mischief(authorization));
    also(0.85, () => this.#buyOnce(sent, subject, pauses));
    // What was paid anew under the same name must not be charged a second time.
    if (identifier !== undefined)
      also(0.5, async () => this.#insist(await this.#pay(subject, { ...HONEST, identifier }), subject, pauses));
    if (name !== undefined)
      also(0.5, async () => this.#insist(await this.#pay(subject, { ...HONEST, name }), subject, pauses));
    await Promise.all(trials);
  }

  /** Buys as most people do, some by two requests at once. @returns how each of them ended */
  async buyHonestly(): Promise<readonly Answer[]> {
    const { random } = this.#options.scheduler;
    const subject = random.pick(SUBJECTS);
    const sent = await this.#pay(subject, HONEST);
    return Promise.all(Array.from({ length: random.between(1, 2) }, () => this.#insist(sent, subject)));
  }

  /** Buys again what came to nothing, under the same name. @returns how that ended */
  async buyAgain(call: Call): Promise<readonly Answer[]> {
    const { subject, requirement } = call;
    const identifier = extractPaymentIdentifier(payloadOf(call));
    if (identifier === null) throw new Error("only what was named is bought again");
    this.#options.account.balance += PRICE;
    const { network } = requirement;
    return [await this.#insist(await this.#pay(subject, { ...HONEST, identifier, network }), subject)];
  }

  /** Asks for the offers and signs for one of them. */
  async #pay(subject: Subject, { amount, payTo, ms, identifier, name, network }: Terms): Promise<Sent> {
    const { scheduler, account, chains, signed } = this.#options;
    const { random } = scheduler;
    const accepted = await this.#offer(subject, network);
    const chain = chains.find(({ network }) => network === accepted.network);
    if (!chain) throw new Error(`no chain ${accepted.network}`);
    const authorization = chain.authorize({ account, payTo, amount, ...feePayerOf(accepted) }, ms);
    signed(authorization);
    return {
      authorization,
      signature: "good",
      by: random.pick(SIGNERS),
      accepted,
      ...(identifier !== undefined && { identifier }),
      ...(name !== undefined && { name }),
    };
  }

  async #offer(subject: Subject, network: string | undefined): Promise<PaymentRequirements> {
    for (;;) {
      const answer = await this.#options.balancer()?.offers(subject);
      const accepts = answer?.kind === "payment_required" ? answer.accepts : [];
      const fitting = accepts.filter((offer) => network === undefined || offer.network === network);
      if (fitting.length > 0) return this.#options.scheduler.random.pick(fitting);
      await this.#wait();
    }
  }

  async #send(sent: Sent, subject: Subject): Promise<Answer> {
    const replica = this.#options.balancer();
    const wait = !this.#options.scheduler.random.chance(0.1);
    return replica ? replica.request({ sent, subject, payload: toPayload(sent), wait }) : { kind: "disconnected" };
  }

  /** Sends it again and again, until the answer is an end. */
  async #insist(sent: Sent, subject: Subject, pauses = 1): Promise<Answer> {
    for (;;) {
      const answer = await this.#send(sent, subject);
      if (answer.kind === "delivered" || answer.kind === "payment_required") return answer;
      if (answer.kind === "problem" && ENDS.has(answer.problem.code)) return answer;
      if (answer.kind === "problem" && answer.problem.code === "payment_unaccounted" && this.#options.healed())
        return answer;
      await this.#wait(pauses);
    }
  }

  /**
   * Sends it until the answer is an end, as our client does: when that is a 402, again once the payment can no longer be taken,
   * and only if that is refused, too, another one.
   */
  async #buyOnce(sent: Sent, subject: Subject, pauses: number): Promise<Answer> {
    const { scheduler, chains, account, signedAnother, forks } = this.#options;
    const { authorization, identifier, name } = sent;
    const first = await this.#insist(sent, subject, pauses);
    const isHonest = authorization.payTo === PAY_TO && authorization.amount === PRICE;
    // What is named is bought once by its name.
    if (first.kind !== "payment_required" || !isHonest || forks || identifier !== undefined || name !== undefined)
      return first;
    const chain = chains.find(({ rail }) => rail === authorization.rail);
    while (!chain?.hasExpired(authorization)) await scheduler.pause(EXPIRY_POLL_MS * pauses, "waits until it expires");
    await scheduler.pause(MARGIN_MS, "waits for blocks that are late");
    const last = await this.#insist(sent, subject, pauses);
    if (last.kind !== "payment_required") return last;
    account.balance += PRICE;
    const another = await this.#pay(subject, HONEST);
    signedAnother(authorization, another.authorization);
    return this.#insist(another, subject, pauses);
  }

  /** Sends once more a payment that was refused, and made all the same, until a right answer. @returns whether it got one within some minutes */
  async bringAgain(
    { authorization, accepted }: Pick<Sent, "authorization" | "accepted">,
    subject: Subject,
    isRight: (answer: Answer) => boolean,
  ): Promise<boolean> {
    const sent: Sent = { authorization, signature: "good", by: "key", accepted };
    for (let i = 0; i < MOST_TRIALS; i++) {
      if (isRight(await this.#insist(sent, subject))) return true;
      await this.#wait();
    }
    return false;
  }

  /** A stranger makes up a payment of this one's, under the name of its purchase, and cannot sign it. */
  async #forge({ accepted, identifier, by }: Sent, subject: Subject): Promise<Answer> {
    const { scheduler, account, chains, signed } = this.#options;
    const chain = chains.find(({ network }) => network === accepted.network) as PaymentChain;
    const transfer = { account, payTo: PAY_TO, amount: PRICE, ...feePayerOf(accepted) };
    const authorization = chain.authorize(transfer, HONEST.ms);
    signed(authorization);
    const signature = scheduler.random.pick(["bad", "none"] as const);
    return this.#send(
      { authorization, signature, by, accepted, ...(identifier !== undefined && { identifier }) },
      subject,
    );
  }

  /** Takes away what the payment rests on, or makes it without us. */
  async #mischief(authorization: Authorization): Promise<void> {
    const { scheduler, chains, account } = this.#options;
    const chain = chains.find(({ rail }) => rail === authorization.rail);
    const deed = scheduler.random.pick(["cancel", "drain", "spend"] as const);
    scheduler.note(account.name, deed, authorization.key);
    if (deed === "cancel") chain?.cancel(authorization);
    if (deed === "drain") account.balance = 0n;
    if (deed === "spend") chain?.broadcast(authorization, () => undefined);
  }

  /** At once, or a while later. */
  #sooner(): Promise<void> {
    const { scheduler } = this.#options;
    const { random } = scheduler;
    return random.chance(0.5) ? Promise.resolve() : scheduler.pause(random.below(20_000), "acts");
  }

  #wait(times = 1): Promise<void> {
    const { scheduler } = this.#options;
    return scheduler.pause(scheduler.random.between(500, 8_000) * times, "waits");
  }
}

function feePayerOf({ extra: { feePayer } }: PaymentRequirements): { feePayer?: string } {
  return typeof feePayer === "string" ? { feePayer } : {};
}
