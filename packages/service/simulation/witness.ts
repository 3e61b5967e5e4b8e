import { parseNote, paymentCommitment } from "@attestd/proof/note";
import type { Call } from "../src/calls/call.ts";
import { isAtRest } from "../src/calls/machine.ts";
import type { Invariant, Violation } from "./invariants.ts";
import type { Authorization } from "./payments.ts";

export type WitnessOptions = {
  /** Unix ms. */
  now(): number;
  /** Told of what is worth counting. */
  count(kind: string): void;
};

/** What became of one payment. */
export type Course = {
  readonly authorization: Authorization;
  /** Unix ms at which it was made, as long as its chain shows it. */
  spentAt?: number;
  /** Whether it was made, and a reorganisation undid it. */
  undone: boolean;
  /** Whether the service has asked for its settlement. */
  asked: boolean;
  /** Its attestations on the ledger. */
  readonly attestations: string[];
  /** Its call, as last committed. */
  call?: Call;
  /** Unix ms at which `done` was committed. */
  doneAt?: number;
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
    const course: Course = { authorization, asked: false, undone: false, attestations: [] };
    this.#courses.set(authorization.key, course);
    this.#byCommitment.set(paymentCommitment(authorization.key), course);
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
    course.undone = true;
  }

  /** A settlement arrives at a facilitator. */
  settlementAsked({ key }: Authorization): void {
    const course = this.course(key);
    course.asked = true;
    const state = course.call?.state;
    if (state === undefined || state === "prepared")
      this.object("committedFirst", `${key} is settled while ${state ?? "unknown"}`);
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
    if (course.spentAt === undefined && !course.undone)
      this.object("attestedOnce", `${txid}: ${authorization.key} is unpaid`);
    if (attestations.length > 1) this.object("attestedOnce", `${authorization.key} has ${attestations.join(" and ")}`);
  }

  /** A row is committed. */
  committed(call: Call): void {
    const { key, state, attempts, settlements } = call;
    const course = this.course(key);
    const before = course.call;
    course.call = call;
    for (const { txid } of attempts) this.#recorded.add(txid);
    if (isAtRest(call)) this.#open.delete(key);
    else this.#open.add(key);
    if (state === "done") course.doneAt ??= this.#options.now();
    if (state === "void" && course.spentAt !== undefined) this.object("voidForEver", `${key} is void`);

    const { count } = this.#options;
    if (state !== before?.state) count(`call ${state}`);
    if (settlements > 1 && settlements !== before?.settlements) count("call settled again");
    if (attempts.length > 1 && attempts.length !== before?.attempts.length) count("call attested again");
  }
}
