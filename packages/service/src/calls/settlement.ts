import type { Logger } from "pino";
import { type Deadline, follow, race } from "../lib/clock.ts";
import { hasCode } from "../lib/errors.ts";
import { DecidedByChain, type SettleAnswer } from "../payment/facilitator.ts";
import type { RailName, SettlementRail } from "../payment/rails/rail.ts";
import { settlementReceipt } from "../payment/receipt.ts";
import { forwardedPayment, type Resource } from "../payment/resource.ts";
import type { Settler } from "../payment/routes.ts";
import type { Subject } from "../subjects/subject.ts";
import { type Call, payloadOf } from "./call.ts";
import type { CallEvent } from "./machine.ts";
import { MAX_PAUSE_MS, type Memory, pauseAfter, QUESTION_MS } from "./perform.ts";
import { nextSettler } from "./settlers.ts";

export type SettlementOptions = {
  rails: ReadonlyMap<RailName, SettlementRail>;
  /** By enabled rail, in order of preference. A payment on another rail is looked up, and not settled. */
  settlers: ReadonlyMap<RailName, readonly Settler[]>;
  /** Prefetches what the attestation's signature needs. It never fails. */
  prepare(signal: AbortSignal): Promise<void>;
  /** Returns what is sold for a subject, for the facilitator. */
  resourceOf(subject: Subject): Resource;
  /** The limit of a settlement, in ms: the facilitator waits for the payment's chain. */
  settleMs: number;
  /** Unix ms. */
  now(): number;
  log: Logger;
};

/**
 * How long the chain may take to show a settlement that the facilitator reports as successful or pending, in ms; then it
 * is asked again. A payment may be valid for less: then it is not settled again, and its chain alone decides its end.
 */
const BELIEVED_MS = 30_000;
/** How long to wait for a settlement's answer before looking at the chain, which often shows the payment first, in ms. */
const PATIENCE_MS = 5_000;
/**
 * The number of settlements, some two minutes' worth, after which a payment that the facilitator refuses is looked up and
 * settled more rarely: a payment valid for an hour then costs no more requests than one valid for three minutes that is
 * looked up every second. A payer who has spent what it promised leaves many such payments.
 */
const MANY_REFUSALS = 12;
const MAX_REST_MS = 30_000;

/** The effects on a call's payment: it is settled, found on its chain, and watched until it is final. */
export function createSettlement(options: SettlementOptions) {
  const { rails, settlers, prepare, resourceOf, settleMs, now, log } = options;
  return { settle, reconcile, watch };

  /** Sends the settlement that was committed, to the facilitator that the row names. */
  async function settle(call: Call, memory: Memory, deadline: Deadline): Promise<undefined> {
    delete memory.unsent;
    const committed = settlers.get(call.rail)?.find(({ id }) => id === call.facilitator);
    return send(call, committed, memory, deadline);
  }

  /** Looks for the payment on its chain, and begins another settlement if it must. */
  async function reconcile(call: Call, memory: Memory, deadline: Deadline): Promise<CallEvent | undefined> {
    const rail = railOf(call);
    const payment = rail.read(payloadOf(call));
    const status = await deadline.within(QUESTION_MS, (ends) => rail.status(payment, ends, memory.hint));
    if (status.state !== "open") endSettlement(memory, new DecidedByChain());
    switch (status.state) {
      case "paid": {
        const { transaction, height, final } = status;
        const receipt = settlementReceipt(payment, call.requirement, { success: true, transaction });
        return { type: "payment_proved", proof: { transaction, height, final }, receipt };
      }
      case "void": {
        // A failure of a facilitator does not concern the payer, and its text is for the operator.
        const { answer, isFailure } = memory.settled ?? {};
        const reason = (isFailure ? undefined : answer?.reason) ?? status.reason;
        const receipt = settlementReceipt(payment, call.requirement, { success: false, reason });
        return { type: "payment_void", reason, receipt };
      }
      case "open":
        if (memory.unsent === call.settlements) return undefined;
        if (memory.settling && !isOverdue(call, memory.settling)) {
          const { answered } = memory.settling;
          await deadline.within(MAX_PAUSE_MS, (ends) =>
            race(
              ends,
              () => answered,
              (signal) => rail.news(signal),
            ),
          );
          return undefined;
        }
        if (memory.settling) {
          endSettlement(memory, new Error("the facilitator is silent"));
          memory.settled = { answer: { success: false }, at: now(), isFailure: true };
        }
        if (settlerOf(call, memory)) {
          if (untilDue(call, memory) <= 0) return begin(call, memory);
          memory.waiting = isRefused(memory);
        } else {
          noteOrphan(call, memory);
          memory.waiting = true;
        }
        if (memory.waiting && call.settlements >= MANY_REFUSALS) await deadline.sleep(untilDue(call, memory));
        else await deadline.within(MAX_PAUSE_MS, (ends) => rail.news(ends));
        return undefined;
    }
  }

  /** Names the facilitator in an event before anything is sent to it: after a crash the same one is asked. */
  function begin(call: Call, memory: Memory): CallEvent {
    const settler = settlerOf(call, memory);
    memory.unsent = call.settlements + 1;
    return { type: "settlement_begun", ...(settler && { facilitator: settler.id }) };
  }

  /** Looks at a delivered payment that is not final. If it has vanished it is settled again, while it can be. */
  async function watch(call: Call, memory: Memory, deadline: Deadline): Promise<CallEvent | undefined> {
    const rail = railOf(call);
    const payment = rail.read(payloadOf(call));
    const look = (ends: AbortSignal) => rail.status(payment, ends, call.proof?.transaction);
    const status = await deadline.within(QUESTION_MS, look);
    // Only a look that got an answer lengthens the pause: the payment may vanish while its nodes are silent.
    memory.looks += 1;
    if (status.state !== "open") endSettlement(memory, new DecidedByChain());
    switch (status.state) {
      case "paid": {
        const { transaction, height, final } = status;
        const moved = final || transaction !== call.proof?.transaction || height !== call.proof.height;
        return moved ? { type: "payment_seen_again", proof: { transaction, height, final } } : undefined;
      }
      case "void":
        return { type: "payment_lost", reason: status.reason };
      case "open":
        log.error({ key: call.key, ...call.proof }, "a payment that was delivered for is not on its chain");
        return memory.settling ? undefined : send(call, settlerOf(call, memory), memory, deadline);
    }
  }

  /**
   * Sends a settlement, and waits a while for its answer. The answer, whenever it comes, is a hint: only the chain, which
   * is looked at meanwhile, decides what became of the payment.
   */
  async function send(
    call: Call,
    settler: Settler | undefined,
    memory: Memory,
    deadline: Deadline,
  ): Promise<undefined> {
    if (!settler) return noteOrphan(call, memory);
    const { requirement, subject } = call;
    const { facilitator } = settler;
    const forwarded = forwardedPayment(railOf(call).read(payloadOf(call)), requirement, resourceOf(subject));
    const end = new AbortController();
    const ask = (ends: AbortSignal) => {
      follow(end, ends);
      return facilitator.settle(forwarded, requirement, end.signal);
    };
    const answered = deadline
      .within(settleMs, ask)
      .then((answer) => ({ answer, isFailure: false }), failureOf)
      .then(({ answer, isFailure }) => {
        // Otherwise the chain has already decided, or another facilitator is asked.
        if (memory.settling?.end !== end) return;
        delete memory.settling;
        if (answer.success) void deadline.within(QUESTION_MS, prepare);
        else if (answer.isPending) log.info(facts(answer), "the facilitator has not finished the settlement");
        else log.warn(facts(answer), "the facilitator confirms no settlement");
        memory.settled = { answer, at: now(), isFailure };
        if (answer.transaction !== undefined) memory.hint = answer.transaction;
      });
    function facts({ reason }: SettleAnswer) {
      return { key: call.key, facilitator: settler?.id, reason };
    }
    memory.settling = { answered, end, at: now() };
    await race(
      deadline.signal,
      () => answered,
      (signal) => deadline.sleep(PATIENCE_MS, signal),
    );
  }

  function endSettlement(memory: Memory, reason: Error): void {
    memory.settling?.end.abort(reason);
    delete memory.settling;
  }

  /** Returns after how many ms the payment is to be settled again. */
  function untilDue(call: Call, memory: Memory): number {
    const { settled } = memory;
    if (!settled) return 0;
    return settled.at + pauseOf(call, memory, settled.answer) - now();
  }

  function pauseOf(call: Call, memory: Memory, { success, isPending, retryAfterMs = 0 }: SettleAnswer): number {
    if (success || isPending) return BELIEVED_MS;
    const refused = call.settlements < MANY_REFUSALS ? pauseAfter(call.settlements + 1) : MAX_REST_MS;
    // Only the facilitator that asked for it is left alone for longer.
    return settlerOf(call, memory)?.id === call.facilitator ? Math.max(refused, retryAfterMs) : refused;
  }

  function settlerOf(call: Call, memory: Memory): Settler | undefined {
    return nextSettler(call, railOf(call), settlers.get(call.rail) ?? [], hasFailed(memory));
  }

  /** Whether the facilitator that was asked last has not settled: it said so, or the chain shows nothing yet. */
  function hasFailed(memory: Memory): boolean {
    return isRefused(memory) || (memory.settled !== undefined && memory.settled.at + BELIEVED_MS <= now());
  }

  /** Whether a facilitator has been silent for so long that another one, if any may settle the payment, is asked too. */
  function isOverdue(call: Call, { at }: { at: number }): boolean {
    if (at + BELIEVED_MS > now()) return false;
    const other = nextSettler(call, railOf(call), settlers.get(call.rail) ?? [], true);
    return other !== undefined && other.id !== call.facilitator && other.unavailableReason() === undefined;
  }

  function noteOrphan(call: Call, memory: Memory): undefined {
    if (memory.isOrphan) return;
    memory.isOrphan = true;
    const { key, rail, facilitator } = call;
    log.warn({ key, rail, facilitator }, "the settings do not name the facilitator that the payment is bound to");
  }

  function railOf({ rail: name }: Call): SettlementRail {
    const rail = rails.get(name);
    if (!rail) throw new Error(`the rail ${name} is not known`);
    return rail;
  }
}

function isRefused({ settled }: Memory): boolean {
  return settled !== undefined && !settled.answer.success && !settled.answer.isPending;
}

/** A settlement without an answer may have happened all the same. */
function failureOf(error: Error): { answer: SettleAnswer; isFailure: true } {
  const retryAfterMs = hasCode(error, "facilitator_failed") ? error.details.retryAfterMs : undefined;
  const answer = { success: false, reason: error.message, ...(retryAfterMs !== undefined && { retryAfterMs }) };
  return { answer, isFailure: true };
}
