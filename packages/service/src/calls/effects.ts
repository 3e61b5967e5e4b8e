import { createHash } from "node:crypto";
import { parseNote } from "@attestd/proof/note";
import type { Logger } from "pino";
import type { Attestor } from "../attestor/attestor.ts";
import type { Clock } from "../clock.ts";
import { noteOf } from "../ledger/attempt-note.ts";
import type { Attempt, Ledger, Standing } from "../ledger/ledger.ts";
import type { Facilitator, SettleAnswer } from "../payment/facilitator.ts";
import { forwardedPayment } from "../payment/forwarded-payment.ts";
import type { Rail, RailName } from "../payment/rails/rail.ts";
import { settlementReceipt, signReceipt } from "../payment/receipt.ts";
import type { Resource } from "../payment/resource.ts";
import type { Products } from "../subjects/product.ts";
import type { Subject } from "../subjects/subject.ts";
import { type Call, evidenceOf } from "./call.ts";
import type { CallEvent, Effect } from "./machine.ts";

export type EffectsOptions = {
  rails: ReadonlyMap<RailName, Rail>;
  /** Of the rails that are switched on; a payment on another one is looked up, and not settled. */
  facilitators: ReadonlyMap<RailName, Facilitator>;
  products: Products;
  ledger: Ledger;
  attestor: Attestor;
  /** What is sold to whoever asks for such a subject, for the facilitator and receipts. */
  resourceOf: (subject: Subject) => Resource;
  log: Logger;
  clock: Clock;
  /** How long one question to a chain may take, in ms. */
  deadlineMs: number;
  /** How long a settlement may be under way, in ms: the facilitator waits for the payment's chain. */
  settleMs: number;
};

/** What one loop remembers between effects. Only pacing: losing it in a crash costs time, never safety. */
export type Memory = {
  /** The settlement that was committed by this loop and has not left yet. */
  begun?: number;
  /** The settlement that has left and has not come back yet. */
  settling?: { answered: Promise<void>; end: AbortController };
  /** The facilitator's last answer, and when it came. */
  settled?: { answer: SettleAnswer; at: number };
  /** Looks at a delivered payment that is not final yet. */
  looks?: number;
  /** Nothing can be done now but wait: for an authorization to expire, for a payment to become final, for another key. */
  waiting?: boolean;
  /** Effects in a row that failed. */
  failures: number;
};

/** Rounds after which the same bytes are submitted again when no block has shown them. */
const RESUBMIT_AFTER_ROUNDS = 4;
/** How long a settlement that the facilitator calls done may take to show before it is asked again. */
const BELIEVED_MS = 30_000;
/** How long a settlement is waited for before the chain is looked at, which is often there first. */
const PATIENCE_MS = 5_000;
/** A quarter of the time in which a paid call has to end once everything works: one pause must not use it up. */
const LONGEST_PAUSE_MS = 15_000;
/**
 * Settlements, some two minutes, after which a payment that the facilitator refuses is looked at and asked for more rarely:
 * for an hour-long one no more is asked of anyone than for one of three minutes that is looked at every second. A payer who
 * has spent what it promised leaves many such.
 */
const REFUSED_OFTEN = 12;
const LONGEST_REST_MS = 30_000;
/** Until the first look at a payment that is not final yet; the pauses double, for Base takes some 20 minutes. */
const FIRST_LOOK_MS = 15_000;
const MOST_DOUBLINGS = 5;

/** A pause that doubles with every failure in a row, in ms. */
export function pauseAfter(failures: number): number {
  return Math.min(250 * 2 ** failures, LONGEST_PAUSE_MS);
}

/** Performs an effect. @returns what happened, to be committed; undefined when it must be looked at again */
export type Perform = (call: Call, effect: Effect, memory: Memory, stop: AbortSignal) => Promise<CallEvent | undefined>;

/** Everything that a call does to the world. No effect commits anything: it tells what happened. */
export function createEffects(options: EffectsOptions): Perform {
  const { rails, facilitators, products, ledger, attestor, resourceOf, log, clock, deadlineMs, settleMs } = options;
  const within = (ms: number, stop: AbortSignal) => AbortSignal.any([stop, clock.timeout(ms)]);

  return async (call, effect, memory, stop) => {
    switch (effect.do) {
      case "settle":
        return beginSettlement(call, memory);
      case "reconcile":
        return memory.begun === call.settlements ? settle(call, memory, stop) : reconcile(call, memory, stop);
      case "sign":
        return {
          type: "attestation_signed",
          attempt: await ledger.sign(newNote(call), leaseOf(call.key), within(deadlineMs, stop)),
        };
      case "submit":
        return submit(call, effect.attempt, stop);
      case "seal":
        return { type: "bundle_sealed", ...(await seal(call, effect.attempt, memory)) };
      case "watch":
        return watch(call, memory, stop);
      case "nothing":
        return undefined;
    }
  };

  function beginSettlement(call: Call, memory: Memory): CallEvent {
    memory.begun = call.settlements + 1;
    return { type: "settlement_begun" };
  }

  /**
   * Lets the settlement leave, and waits a while for it. Whatever comes back, and whenever, is a hint: only the chain tells
   * what became of the payment, and it is looked at meanwhile.
   */
  async function settle(call: Call, memory: Memory, stop: AbortSignal): Promise<undefined> {
    delete memory.begun;
    const { payload, requirement, subject } = call;
    const facilitator = facilitatorOf(call);
    const forwarded = forwardedPayment(railOf(call).read(payload), requirement, resourceOf(subject));
    const end = new AbortController();
    const answered = facilitator
      .settle(forwarded, requirement, AbortSignal.any([end.signal, within(settleMs, stop)]))
      .catch((error: Error): SettleAnswer => ({ success: false, reason: error.message }))
      .then((answer) => {
        // Nobody asks any more: the chain has told.
        if (end.signal.aborted) return;
        delete memory.settling;
        if (answer.success) ledger.prepare(within(deadlineMs, stop));
        else log.warn({ key: call.key, reason: answer.reason }, "the facilitator confirms no settlement");
        memory.settled = { answer, at: clock.now() };
      });
    memory.settling = { answered, end };
    await unlessFirst(answered, (signal) => clock.sleep(PATIENCE_MS, signal), stop);
  }

  /** Waits for something, but not beyond an answer. */
  async function unlessFirst(
    answered: Promise<void>,
    wait: (signal: AbortSignal) => Promise<void>,
    stop: AbortSignal,
  ): Promise<void> {
    const enough = new AbortController();
    const waited = wait(AbortSignal.any([enough.signal, stop]));
    try {
      await Promise.race([answered, waited]);
    } finally {
      enough.abort();
    }
  }

  function endSettlement(memory: Memory): void {
    memory.settling?.end.abort(new Error("the chain has told what became of the payment"));
    delete memory.settling;
  }

  async function reconcile(call: Call, memory: Memory, stop: AbortSignal): Promise<CallEvent | undefined> {
    const rail = railOf(call);
    const payment = rail.read(call.payload);
    const standing = await rail.standing(payment, within(deadlineMs, stop));
    if (standing.state !== "open") endSettlement(memory);
    switch (standing.state) {
      case "paid": {
        const { transaction, height, final } = standing;
        const receipt = settlementReceipt(payment, call.requirement, { success: true, transaction });
        return { type: "payment_proved", proof: { transaction, height, final }, receipt };
      }
      case "void": {
        const reason = memory.settled?.answer.reason ?? standing.reason;
        const receipt = settlementReceipt(payment, call.requirement, { success: false, reason });
        return { type: "payment_void", reason, receipt };
      }
      case "open":
        if (memory.settling) {
          const { answered } = memory.settling;
          await unlessFirst(
            answered,
            (signal) => rail.news(AbortSignal.any([signal, within(LONGEST_PAUSE_MS, stop)])),
            stop,
          );
          return undefined;
        }
        if (facilitators.has(call.rail) && mustSettleAgain(call, memory)) return beginSettlement(call, memory);
        memory.waiting = memory.settled?.answer.success === false;
        if (memory.waiting && call.settlements >= REFUSED_OFTEN) await clock.sleep(untilDue(call, memory), stop);
        else await rail.news(within(LONGEST_PAUSE_MS, stop));
        return undefined;
    }
  }

  /** Looks at a delivered payment until it is final. One that has vanished is settled again while it lives. */
  async function watch(call: Call, memory: Memory, stop: AbortSignal): Promise<CallEvent | undefined> {
    const looks = memory.looks ?? 0;
    memory.waiting = true;
    await clock.sleep(FIRST_LOOK_MS * 2 ** Math.min(looks, MOST_DOUBLINGS), stop);
    const rail = railOf(call);
    const standing = await rail.standing(rail.read(call.payload), within(deadlineMs, stop));
    // Only a look that has seen something earns a longer pause: the payment may vanish while its nodes are silent.
    memory.looks = looks + 1;
    if (standing.state !== "open") endSettlement(memory);
    switch (standing.state) {
      case "paid": {
        const { transaction, height, final } = standing;
        const moved = final || transaction !== call.proof?.transaction || height !== call.proof.height;
        return moved ? { type: "payment_seen_again", proof: { transaction, height, final } } : undefined;
      }
      case "void":
        return { type: "payment_lost", reason: standing.reason };
      case "open":
        log.error({ key: call.key, ...call.proof }, "a payment that was delivered for is not on its chain");
        return memory.settling ? undefined : settle(call, memory, stop);
    }
  }

  function mustSettleAgain(call: Call, memory: Memory): boolean {
    return untilDue(call, memory) <= 0;
  }

  /** ms until the payment's settlement is asked for once more. */
  function untilDue({ settlements }: Call, { settled }: Memory): number {
    if (!settled) return 0;
    const refused = settlements < REFUSED_OFTEN ? pauseAfter(settlements + 1) : LONGEST_REST_MS;
    return settled.at + (settled.answer.success ? BELIEVED_MS : refused) - clock.now();
  }

  async function submit(call: Call, attempt: Attempt, stop: AbortSignal): Promise<CallEvent | undefined> {
    const { rounds } = ledger;
    const standing = await rounds.standing(attempt.txid, attempt, within(deadlineMs, stop));
    if (standing.state !== "open") return eventOf(standing, attempt);
    const submission = await ledger.submit(attempt.raw, within(deadlineMs, stop));
    if (submission.status !== "accepted")
      log.warn({ key: call.key, txid: attempt.txid, ...submission }, "not accepted");
    if (submission.status === "unfunded" || submission.status === "rejected") {
      // An alert for the operator; the same bytes are tried again until the ledger takes them or they are dead.
      if (call.state !== "owed") return { type: "attestation_blocked", reason: submission.reason };
      throw new Error(`the ledger does not take the attestation: ${submission.reason}`);
    }
    const shown = await withinRounds(attempt, stop);
    return shown && eventOf(shown, attempt);
  }

  /** Waits a few rounds for the attempt to show. */
  async function withinRounds(
    attempt: Attempt,
    stop: AbortSignal,
  ): Promise<Exclude<Standing, { state: "open" }> | undefined> {
    const enough = new AbortController();
    const signal = AbortSignal.any([enough.signal, stop]);
    const patience = async () => {
      for (let i = 0; i < RESUBMIT_AFTER_ROUNDS; i++) await ledger.rounds.next(signal);
      return undefined;
    };
    const settled = ledger.rounds.settled(attempt.txid, attempt, signal);
    const waited = patience();
    try {
      return await Promise.race([settled, waited]);
    } finally {
      enough.abort();
      await Promise.allSettled([settled, waited]);
    }
  }

  /** What was submitted decides: the note, and the key that signs, are those of the attempt, whatever ours are now. */
  async function seal(call: Call, attempt: Attempt, memory: Memory) {
    const { subject, round, receipt: unsigned } = call;
    if (round === undefined || unsigned === undefined) throw new Error("a confirmed call has a round and a receipt");
    const note = noteOf(attempt);
    const parsed = parseNote(note);
    // Keys do not change while a call is in this state, but a restored backup may hold one that was delivered since.
    memory.waiting = !("a" in parsed) || parsed.a !== attestor.keySha256;
    if (memory.waiting)
      throw new Error(`the note of ${attempt.txid} is not of the present key: only the key that it names can sign`);
    const attested = {
      attest: { txnId: attempt.txid, round, note },
      attestor: { algorandAddress: ledger.address, pqPublicKey: attestor.pqPublicKey },
    };
    const [bundle, receipt] = await Promise.all([
      attestor.seal(products[subject.kind].bundle(evidenceOf(call), attested)),
      signReceipt(unsigned, { resourceUrl: resourceOf(subject).url, at: clock.now() }, attestor),
    ]);
    return { bundle, receipt };
  }

  function newNote(call: Call): string {
    return products[call.subject.kind].note(evidenceOf(call), {
      keySha256: attestor.keySha256,
      ledger: ledger.caip2,
      paymentKey: call.key,
    });
  }

  function railOf({ rail: name }: Call): Rail {
    const rail = rails.get(name);
    if (!rail) throw new Error(`the rail ${name} is not known`);
    return rail;
  }

  function facilitatorOf({ rail }: Call): Facilitator {
    const facilitator = facilitators.get(rail);
    if (!facilitator) throw new Error(`the rail ${rail} is switched off: the call waits until it is on, or void`);
    return facilitator;
  }
}

function eventOf(standing: Exclude<Standing, { state: "open" }>, { txid }: Attempt): CallEvent {
  return standing.state === "confirmed"
    ? { type: "attestation_confirmed", txid, round: standing.round }
    : { type: "attestation_dead", txid };
}

/** The lease under which every attempt for a payment stands: two of them cannot both be confirmed in one window. */
function leaseOf(paymentKey: string): Uint8Array {
  return createHash("sha256").update("attestd/lease/v1").update(paymentKey).digest();
}
