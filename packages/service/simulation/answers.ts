import type { PaymentPayload } from "@x402/core/types";
import { extractPaymentIdentifier } from "@x402/extensions/payment-identifier";
import { type Call, payloadOf } from "../src/calls/call.ts";
import type { Delivered, Outcome } from "../src/calls/outcome.ts";
import { type ProblemCode, saysUncharged } from "../src/lib/problems.ts";
import { requestHash, type Subject } from "../src/subjects/subject.ts";
import { isPayers, type Sent, type SimulatedScheme } from "./payload.ts";
import { type Authorization, PAY_TO, PRICE } from "./payments.ts";
import type { Life } from "./scheduler.ts";
import type { Witness } from "./witness.ts";

/** The answer that a client gets. */
export type Answer =
  | Outcome
  /** What a transport answers with 500. */
  | { kind: "broken"; error: unknown }
  | { kind: "disconnected" };

/** A request as it was sent, with the payload that it is known by. */
export type Request = {
  sent: Sent;
  subject: Subject;
  payload: PaymentPayload;
  /** Whether the client waits for its bundle. */
  wait: boolean;
};

export type AnswersOptions = {
  witness: Witness;
  /** Steps taken so far. */
  step(): number;
  /** Whether a use of the journal has failed by now: then a request may break, too. */
  journalFails(): boolean;
  /** `requestHash` of what a refused payment is remembered for, if it is. */
  remembered(key: string): string | undefined;
  /** Called with each kind of event to count. */
  count(kind: string): void;
};

/** Which process has a request, or gave an answer, since which step. */
type Turn = { by: Life; step: number };
/** A 402, with the step in which its process last asked the journal for the requests of others; else of the answer. */
type Refused = Turn & { askedIn: number };

/** Held by a call, or made to us without one. */
type Seen = "unknown" | "paid" | "held" | "void";

/** Codes that only the payer or an operator may get. */
const TELLING: readonly ProblemCode[] = [
  "settlement_pending",
  "attestation_pending",
  "payment_bound_to_other_request",
  "payment_refunded",
  "payment_unaccounted",
];

/** Reads every answer that leaves the service, and objects to those that are wrong. */
export class Answers {
  readonly #options: AnswersOptions;
  /** Where the payment stood when the request last learnt something. */
  readonly #seen = new Map<PaymentPayload["payload"], Seen>();
  /** The step in which the request came. */
  readonly #came = new Map<PaymentPayload["payload"], number>();
  /** The requests of each payment's payer that have no answer, by payment key. */
  readonly #open = new Map<string, Map<PaymentPayload["payload"], Turn>>();
  /** The last 402 for each payment, by payment key. */
  readonly #refused = new Map<string, Refused>();
  /** The requests whose payment a facilitator has wrongly called bad. */
  readonly #wronged = new Set<PaymentPayload["payload"]>();
  /** By payment key, the step in which each process last learnt that no other one expects a call. */
  readonly #asked = new Map<string, Map<Life, number>>();

  constructor(options: AnswersOptions) {
    this.#options = options;
  }

  /** A request has come to a process. */
  came({ sent, payload: { payload } }: Request, by: Life): void {
    const { key } = sent.authorization;
    const step = this.#options.step();
    this.#came.set(payload, step);
    this.looked({ payload });
    if (!isPayers(sent.signature)) return;
    const open = this.#open.get(key) ?? new Map<PaymentPayload["payload"], Turn>();
    this.#open.set(key, open.set(payload, { by, step }));
  }

  /**
   * The call of a payment is inserted. No process may answer 402 for a payment while another request may still begin its
   * call. A process knows of its own requests when they come, of others' once the journal does.
   */
  begun({ key, settlements }: Call, inserter: Life, expectedIn = Number.POSITIVE_INFINITY): void {
    const refused = this.#refused.get(key);
    // A 402 of before a failover may have been true; and the call of a payment that was made already charges nothing.
    if (!refused || settlements === 0 || this.#options.witness.course(key).lost) return;
    const own = [...(this.#open.get(key)?.values() ?? [])].filter(({ by }) => by === inserter);
    const isKnown =
      refused.by === inserter
        ? own.length > 0 && own.every(({ step }) => step < refused.step)
        : expectedIn < refused.askedIn;
    if (isKnown)
      this.#options.witness.object("no402", `${key} was refused while another request was about to begin its call`);
  }

  /** A process learns that no other one expects a call under a name, which begins with the payment key. */
  askedOthers(name: string, by: Life): void {
    const [key = name] = name.split(" ");
    this.#asked.getOrInsertComputed(key, () => new Map()).set(by, this.#options.step());
  }

  /**
   * The request that carries the payload has learnt something: it may answer from the journal of now, and from what the chain
   * showed at a time, Unix ms.
   */
  looked({ payload }: Pick<PaymentPayload, "payload">, at = Number.POSITIVE_INFINITY): void {
    const { authorization: key } = payload as SimulatedScheme;
    const { call, spentAt, authorization } = this.#options.witness.course(key);
    if (call) this.#seen.set(payload, call.state === "void" ? "void" : "held");
    else
      this.#seen.set(payload, spentAt !== undefined && spentAt <= at && isPurchase(authorization) ? "paid" : "unknown");
  }

  /** A facilitator calls the payment of a request bad that is good. */
  refusing({ payload }: PaymentPayload): void {
    this.#wronged.add(payload);
  }

  /** A facilitator is asked about a payment, or a chain about its payer's money or what was made of it. */
  vouched({ payload }: PaymentPayload): void {
    const { authorization: key, signature } = payload as SimulatedScheme;
    const { witness } = this.#options;
    if (!isPayers(signature)) witness.object("unasked", `${key} is asked about, and its payer has not signed`);
    if (!isPurchase(witness.course(key).authorization))
      witness.object("unasked", `${key} is asked about, and is no purchase`);
  }

  /** An answer leaves the service. */
  left(request: Request, answer: Answer, by: Life): void {
    const { witness, journalFails, count } = this.#options;
    this.#open.get(request.sent.authorization.key)?.delete(request.payload.payload);
    count(`answer ${answer.kind === "problem" ? answer.problem.code : answer.kind}`);
    if (answer.kind === "broken" && !journalFails()) witness.object("answers", textOf(answer.error));
    else if (!isPayers(request.sent.signature)) this.#toStranger(request, answer);
    else if (answer.kind === "delivered") this.#bundle(request, answer);
    else if (answer.kind === "payment_required") this.#paymentRequired(request, answer.error, by);
    else if (answer.kind === "problem") this.#problem(request, answer.problem.code);
  }

  /** Who cannot sign must not learn that there is a call. */
  #toStranger({ sent }: Request, answer: Answer): void {
    const told = answer.kind === "problem" ? TELLING.includes(answer.problem.code) : answer.kind === "delivered";
    if (told) this.#options.witness.object("strangers", `a stranger is told of ${sent.authorization.key}`);
  }

  #bundle({ sent, subject, payload }: Request, { body, receipt }: Delivered): void {
    const { witness } = this.#options;
    const { key } = sent.authorization;
    // Durable rows only: a bundle that a crash could take back is not done.
    // What was read before a failover, or is read after it, need not be in the journal of now.
    if (witness.course(key).lost) return;
    const call = this.#callsOf(sent, payload).find(({ bundle }) =>
      typeof body === "string" ? bundle?.body === body : bundle?.id === body.id,
    );
    const isDone = call?.state === "done" || call?.state === "loss";
    if (!isDone || call.receipt !== receipt) witness.object("noBundleBefore", `${key} is delivered, and none is done`);
    else if (call.subjectHash !== requestHash(subject))
      witness.object("bound", `${key} is delivered for another request`);
  }

  #paymentRequired({ sent, subject, payload }: Request, error: string | undefined, by: Life): void {
    const { witness, step } = this.#options;
    const { key } = sent.authorization;
    const asked = this.#asked.get(key);
    this.#refused.set(key, { by, step: step(), askedIn: asked?.get(by) ?? step() });
    asked?.delete(by);
    const course = witness.course(key);
    const { call } = course;
    if (this.#wronged.has(payload.payload)) {
      course.refusedFor.push(subject);
      course.accepted = sent.accepted;
    }
    const seen = this.#seen.get(payload.payload);
    // Of one whose call was lost the chain alone tells.
    if ((seen === "paid" || (seen === "held" && !course.lost)) && call?.state !== "void")
      witness.object("no402", `${key} is ${call?.state ?? "paid"}, and refused: ${error}`);
  }

  #problem({ sent, subject, payload }: Request, code: ProblemCode): void {
    const { witness } = this.#options;
    const { key } = sent.authorization;
    const { lost } = witness.course(key);
    if (code === "internal" || code === "payment_refunded") witness.object("answers", `${key}: ${code}`);
    const isOther = ({ subjectHash }: Call) => subjectHash !== requestHash(subject);
    const remembered = this.#options.remembered(key);
    const isBound = lost || (remembered !== undefined && remembered !== requestHash(subject));
    if (code === "payment_bound_to_other_request" && !isBound && !this.#callsOf(sent, payload).some(isOther))
      witness.object("bound", `${key} is said to be bound to another request`);
    // Whether a wallet has signed its chain alone tells, which may not have been asked.
    const isKnownOf = lost !== undefined || (remembered !== undefined && sent.by === "key");
    if (this.#seen.get(payload.payload) === "paid" && isKnownOf && saysUncharged(code))
      witness.object("answers", `${key} is paid, and ${code} says that nothing was charged`);
    if (code === "payment_unaccounted" && !lost && this.#seen.get(payload.payload) === "held")
      witness.object("answers", `${key} is called unaccounted, and has a call`);
  }

  /**
   * The calls that a payment may be answered from: its own, or those of other payments which were named alike, and had neither
   * come to nothing nor been lost before the request came.
   */
  #callsOf({ authorization, identifier, name }: Sent, payload: PaymentPayload): Call[] {
    const { witness } = this.#options;
    const came = this.#came.get(payload.payload) ?? 0;
    const own = witness.course(authorization.key).call;
    if (own) return [own];
    const calls: Call[] = [];
    const never = Number.POSITIVE_INFINITY;
    for (const { authorization: other, call: present, lost, lostIn = 0, voidIn = never } of witness.courses) {
      const isPayers = other.rail === authorization.rail && other.account === authorization.account;
      // What was read of a row before a failover may arrive after it.
      for (const call of [present, lostIn > came ? lost : undefined]) {
        if (!call) continue;
        const isAlike = identifier !== undefined && extractPaymentIdentifier(payloadOf(call)) === identifier;
        const isNamed = name !== undefined && call.aliases.includes(name);
        if (isNamed || (isPayers && isAlike && voidIn > came)) calls.push(call);
      }
    }
    return calls;
  }
}

/** Whether the payment is one that we could ever have taken. */
function isPurchase({ payTo, amount }: Authorization): boolean {
  return payTo === PAY_TO && amount === PRICE;
}

export function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? `${error.name}: ${error.message}`) : String(error);
}
