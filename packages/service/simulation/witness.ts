import { parseNote } from "@attestd/proof";
import { paymentCommitment } from "@attestd/proof/attestor";
import type { PaymentRequirements } from "@x402/core/types";
import type { Call } from "../src/calls/call.ts";
import { isAtRest, isFinal, isUnpaid } from "../src/calls/machine.ts";
import { SETTLE_MS } from "../src/payment/facilitator.ts";
import type { Subject } from "../src/subjects/subject.ts";
import { judgeBundle, judgeNote, judgeTruth } from "./bought.ts";
import type { FacilitatorName } from "./facilitator.ts";
import type { Invariant, Violation } from "./invariants.ts";
import type { Authorization } from "./payments.ts";
import type { Life } from "./scheduler.ts";

export type WitnessOptions = {
  /** Unix ms. */
  now(): number;
  /** Steps taken so far. */
  step(): number;
  /** Unix ms at which everything worked again; Infinity until then. */
  healedAt(): number;
  /** Called with each kind of event to count. */
  count(kind: string): void;
  /** Whether the settings of now name such a facilitator. */
  isNamed(is: (facilitator: FacilitatorName) => boolean): boolean;
};

/** How long a payment that could be made may go unasked for while everything works, in ms. */
const AGAIN_MS = 60_000;

/** A request for a settlement, as the process that sent it knows it. Times in Unix ms. */
type Settlement = { readonly by: Life; readonly sentAt: number; endedAt?: number };

/** What became of one payment. */
export type Course = {
  readonly authorization: Authorization;
  /** Unix ms at which it was made, as long as its chain shows it. */
  spentAt?: number;
  /** Unix ms at which a reorganisation undid it, if one has. */
  undoneAt?: number;
  /** Unix ms at which a request for its settlement last arrived at a facilitator, if one has. */
  askedAt?: number;
  /** The last request for its settlement that was sent, if one was. */
  settlement?: Settlement;
  /** Ids of the facilitators that its row has named. */
  readonly facilitators: Set<string>;
  /** Its attestations on the ledger. */
  readonly attestations: string[];
  /** Its call, as last committed. */
  call?: Call;
  /** Its call as it was when a failover lost commits of it, if one has, and the step in which it did. */
  lost?: Call;
  lostIn?: number;
  /** Unix ms at which `done` was committed. */
  doneAt?: number;
  /** The step in which `void` was committed. */
  voidIn?: number;
  /** What it was brought for by requests that got a 402 on a facilitator's wrong word. */
  readonly refusedFor: Subject[];
  /** The offer of the last of them. */
  accepted?: PaymentRequirements;
  /** The payment that was signed in its place, once it could no longer be taken. */
  another?: Authorization;
};

/** Sees everything that happens on the chains and in the journal, and objects to what must never be. */
export class Witness {
  /** The first thing that must never be. */
  violation: Violation | undefined;
  /** Attestations on the ledger. */
  attestations = 0;
  readonly #options: WitnessOptions;
  readonly #courses = new Map<string, Course>();
  readonly #byCommitment = new Map<string, Course>();
  /** Keys of the calls that are not at rest. */
  readonly #open = new Set<string>();
  /** The attestations whose bytes are in the journal. */
  readonly #recorded = new Set<string>();

  constructor(options: WitnessOptions) {
    this.#options = options;
  }

  get courses(): Iterable<Course> {
    return this.#courses.values();
  }

  /** Calls that are not at rest. */
  get open(): number {
    return this.#open.size;
  }

  /** The course of a payment by its key. */
  course(key: string): Course {
    const course = this.#courses.get(key);
    if (!course) throw new Error(`nobody signed ${key}`);
    return course;
  }

  object(invariant: Invariant, detail: string): void {
    this.violation ??= { invariant, detail };
  }

  /** A payer has signed. */
  signed(authorization: Authorization): void {
    const course: Course = { authorization, facilitators: new Set(), attestations: [], refusedFor: [] };
    this.#courses.set(authorization.key, course);
    this.#byCommitment.set(paymentCommitment(authorization.key), course);
  }

  /** A payer signs again for what an expired payment, to which the answer is 402, was to buy. */
  signedAnother(earlier: Authorization, another: Authorization): void {
    this.course(earlier.key).another = another;
    this.#options.count("another payment signed after a 402");
  }

  /** The payments that were made after a 402 on a facilitator's wrong word, and have no call. */
  madeAfterRefusal(): Course[] {
    return [...this.courses].filter(
      ({ refusedFor, spentAt, call }) => refusedFor.length > 0 && spentAt !== undefined && !call,
    );
  }

  /** A payment is made on its chain. */
  spent({ key }: Authorization): void {
    const course = this.course(key);
    course.spentAt = this.#options.now();
    if (course.call?.state === "void") this.object("voidForEver", `${key} was spent`);
  }

  /** A reorganisation undoes a payment. */
  undone({ key }: Authorization): void {
    const course = this.course(key);
    delete course.spentAt;
    course.undoneAt = this.#options.now();
  }

  /** A process sends a request for a settlement. @returns to be called when the process no longer waits for the answer */
  settlementSent({ key }: Authorization, by: Life): () => void {
    const settlement: Settlement = { by, sentAt: this.#options.now() };
    this.course(key).settlement = settlement;
    return () => {
      settlement.endedAt = this.#options.now();
    };
  }

  /** A settlement arrives at a facilitator. */
  settlementAsked({ key, feePayer }: Authorization, by: FacilitatorName): void {
    const course = this.course(key);
    course.askedAt = this.#options.now();
    this.#options.count(`settlement asked of the ${by.upstream}`);
    if (feePayer !== undefined && feePayer !== by.feePayer)
      this.object("ownFacilitator", `${key} is settled by ${by.id} and names the fee payer ${feePayer}`);
    const state = course.call?.state;
    if (state === undefined && !course.lost)
      this.object("committedFirst", `${key} is settled while its call is not committed`);
    if (state === "settling" && !course.facilitators.has(by.id))
      this.object("committedFirst", `${key} is settled by ${by.id}, which its row has never named`);
  }

  /** An attestation arrives at a node. */
  submitted(txid: string): void {
    if (!this.#recorded.has(txid)) this.object("committedFirst", `${txid} is submitted and not in the journal`);
  }

  /** An attestation enters a round. */
  attested(txid: string, note: string): void {
    this.attestations += 1;
    const parsed = parseNote(note);
    const course = "p" in parsed ? this.#byCommitment.get(parsed.p) : undefined;
    if (!course) {
      this.object("attestedOnce", `${txid} names no payment`);
      return;
    }
    const { authorization, attestations } = course;
    attestations.push(txid);
    if (course.call) this.#objectTo("bought", judgeNote(parsed, course.call.subject));
    if (course.call) this.#objectTo("true", judgeTruth(parsed, course.call.subject));
    if (course.spentAt === undefined && course.undoneAt === undefined)
      this.object("attestedOnce", `${txid}: ${authorization.key} is unpaid`);
    if (attestations.length > 1 && !isForgotten(course))
      this.object("attestedOnce", `${authorization.key} has ${attestations.join(" and ")}`);
  }

  /** A failover loses the newest commits of a call. @param left its row then, if there is one */
  lost(before: Call, left: Call | undefined): void {
    const { key } = before;
    const course = this.course(key);
    course.lost = before;
    course.lostIn = this.#options.step();
    delete course.call;
    if (left) course.call = left;
    if (left && !isAtRest(left)) this.#open.add(key);
    else this.#open.delete(key);
    if (!left || !isFinal(left.state)) delete course.doneAt;
    if (left?.state !== "void") delete course.voidIn;
  }

  /** A row is committed. */
  committed(call: Call): void {
    const { key, state, attempts, settlements } = call;
    const course = this.course(key);
    const before = course.call;
    course.call = call;
    for (const { txid } of attempts) this.#recorded.add(txid);
    if (call.facilitator !== undefined) course.facilitators.add(call.facilitator);
    if (isAtRest(call)) this.#open.delete(key);
    else this.#open.add(key);
    if (state === "done") course.doneAt ??= this.#options.now();
    if (state === "void") course.voidIn ??= this.#options.step();
    if (state === "void" && course.spentAt !== undefined) this.object("voidForEver", `${key} is void`);
    if (call.bundle && !before?.bundle) {
      const { attestations } = course;
      this.#objectTo("bought", judgeBundle(call, isForgotten(course) ? attestations.slice(-1) : attestations));
    }
    if (state === "void" || state === "loss") this.#givenUp(course);

    const { count, isNamed } = this.#options;
    if (before && isUnpaid(before.state) && !isNamed(({ id }) => id === before.facilitator))
      count(`call of a facilitator that is not named any more: ${state}`);
    if (state !== before?.state) count(`call ${state}`);
    if (call.bundle && !before?.bundle) count(`bought: ${call.subject.kind}`);
    if (before && call.facilitator !== before.facilitator) count("call passed to another facilitator");
    if (settlements > 1 && settlements !== before?.settlements) count("call settled again");
    if (attempts.length > 1 && attempts.length !== before?.attempts.length) count("call attested again");
  }
  #objectTo(invariant: Invariant, fault: string | undefined): void {
    if (fault !== undefined) this.object(invariant, fault);
  }

  /**
   * A payment is given up. What could be made for long while everything worked must have been asked for: from the
   * healing on, and again after a reorganisation undid it.
   *
   * The time in which the service waits for an earlier request does not count. A facilitator may take 100 s to answer, so
   * until its deadline a lost request looks like one that is being carried out.
   */
  #givenUp({ authorization, call, undoneAt = 0, askedAt = 0, doneAt = 0, settlement }: Course): void {
    const { key, rail, validUntil, feePayer: payer } = authorization;
    // Counted in rounds, and final at once.
    if (rail === "algorand") return;
    // Nobody whom the settings name may settle it.
    if (payer !== undefined && !this.#options.isNamed(({ feePayer }) => feePayer === payer)) return;
    const waited = settlement ? this.#waitedUntil(settlement) : 0;
    const since = Math.max(undoneAt, doneAt, call?.createdAt ?? 0, this.#options.healedAt(), waited);
    const ms = Math.min(validUntil, this.#options.now()) - since;
    if (askedAt < Math.max(undoneAt, this.#options.healedAt()) && ms > AGAIN_MS)
      this.object("settledAgain", `${key} was not asked for in its last ${Math.round(ms / 1000)} s`);
  }

  /** The process waits until the answer, its own death or the deadline, whichever is first. */
  #waitedUntil({ by, sentAt, endedAt }: Settlement): number {
    const until = endedAt ?? (by.alive ? this.#options.now() : sentAt);
    return Math.min(until, sentAt + SETTLE_MS);
  }
}

/**
 * Whether a failover lost the row of a payment that a reorganisation undid. Nobody can know of its attestation then, and the same
 * payment buys as if it never had.
 */
export function isForgotten({ lost, undoneAt }: Course): boolean {
  return lost !== undefined && undoneAt !== undefined;
}
