import { race, within } from "../clock.ts";
import { hasCode } from "../errors.ts";
import { DecidedByChain, type SettleAnswer } from "../payment/facilitator.ts";
import type { SettlementRail } from "../payment/rails/rail.ts";
import { settlementReceipt } from "../payment/receipt.ts";
import { forwardedPayment } from "../payment/resource.ts";
import type { Settler } from "../payment/routes.ts";
import { type Call, payloadOf } from "./call.ts";
import type { CallEvent } from "./machine.ts";
import { type EffectsOptions, MAX_PAUSE_MS, type Memory, pauseAfter } from "./perform.ts";
import { nextSettler } from "./settlers.ts";

/**
 * How long a settlement that the facilitator reports as successful, or as under way, may take to show before it is asked again,
 * in ms. A payment may live for less: then it is not asked for again, and ends by its chain alone, made or void.
 */
const BELIEVED_MS = 30_000;
/** How long a settlement is waited for before the chain is looked at, which often shows the payment first, in ms. */
const PATIENCE_MS = 5_000;
/**
 * Settlements, some two minutes, after which a payment that the facilitator refuses is looked up and settled more rarely:
 * an hour-long payment then costs no more requests than one of three minutes that is looked up every second. A payer who
 * has spent what it promised leaves many such payments.
 */
const MANY_REFUSALS = 12;
const MAX_REST_MS = 30_000;

/** The effects on a call's payment: it is settled, found on its chain, and watched until it is final. */
export function createSettlement(options: EffectsOptions) {
  const { rails, settlers, ledger, resourceOf, log, clock, deadlineMs, settleMs } = options;
  return { settle, reconcile, watch };

  /** Sends the settlement that was committed, to the facilitator that the row names. */
  async function settle(call: Call, memory: Memory, stop: AbortSignal): Promise<undefined> {
    delete memory.unsent;
    const committed = settlers.get(call.rail)?.find(({ id }) => id === call.facilitator);
    return send(call, committed, memory, stop);
  }

  /** Looks for the payment on its chain, and begins another settlement if it must. */
  async function reconcile(call: Call, memory: Memory, stop: AbortSignal): Promise<CallEvent | undefined> {
    const rail = railOf(call);
    const payment = rail.read(payloadOf(call));
    const status = await within(clock, deadlineMs, stop, (ends) => rail.status(payment, ends, memory.hint));
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
          await race(
            stop,
            () => answered,
            (signal) => within(clock, MAX_PAUSE_MS, signal, (ends) => rail.news(ends)),
          );
          return undefined;
        }
        if (memory.settling) {
          endSettlement(memory, new Error("the facilitator is silent"));
          memory.settled = { answer: { success: false }, at: clock.now(), isFailure: true };
        }
        if (settlerOf(call, memory)) {
          if (untilDue(call, memory) <= 0) return begin(call, memory);
          memory.waiting = isRefused(memory);
        } else {
          noteOrphan(call, memory);
          memory.waiting = true;
        }
        if (memory.waiting && call.settlements >= MANY_REFUSALS) await clock.sleep(untilDue(call, memory), stop);
        else await within(clock, MAX_PAUSE_MS, stop, (ends) => rail.news(ends));
        return undefined;
    }
  }

  /** The event names the facilitator before anything is sent to it: after a crash the same one is asked. */
  function begin(call: Call, memory: Memory): CallEvent {
    const settler = settlerOf(call, memory);
    memory.unsent = call.settlements + 1;
    return { type: "settlement_begun", ...(settler && { facilitator: settler.id }) };
  }

  /** Looks at a delivered payment that is not final. One that has vanished is settled again while it can be. */
  async function watch(call: Call, memory: Memory, stop: AbortSignal): Promise<CallEvent | undefined> {
    const rail = railOf(call);
    const payment = rail.read(payloadOf(call));
    const look = (ends: AbortSignal) => rail.status(payment, ends, call.proof?.transaction);
    const status = await within(clock, deadlineMs, stop, look);
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
        return memory.settling ? undefined : send(call, settlerOf(call, memory), memory, stop);
    }
  }

  /**
   * Sends a settlement, and waits a while for it. Its answer, whenever it comes, is a hint: only the chain decides what
   * became of the payment, and is looked at meanwhile.
   */
  async function send(call: Call, settler: Settler | undefined, memory: Memory, stop: AbortSignal): Promise<undefined> {
    if (!settler) return noteOrphan(call, memory);
    const { requirement, subject } = call;
    const { facilitator } = settler;
    const forwarded = forwardedPayment(railOf(call).read(payloadOf(call)), requirement, resourceOf(subject));
    const end = new AbortController();
    const ask = (ends: AbortSignal) => facilitator.settle(forwarded, requirement, ends);
    const answered = within(clock, settleMs, stop, (ends) => ask(AbortSignal.any([end.signal, ends])))
      .then((answer) => ({ answer, isFailure: false }), failureOf)
      .then(({ answer, isFailure }) => {
        // The chain has decided already, or another facilitator is asked.
        if (end.signal.aborted) return;
        delete memory.settling;
        if (answer.success) void within(clock, deadlineMs, stop, (ends) => ledger.prepare(ends));
        else if (answer.isPending) log.info(facts(answer), "the facilitator has not finished the settlement");
        else log.warn(facts(answer), "the facilitator confirms no settlement");
        memory.settled = { answer, at: clock.now(), isFailure };
        if (answer.transaction !== undefined) memory.hint = answer.transaction;
      });
    function facts({ reason }: SettleAnswer) {
      return { key: call.key, facilitator: settler?.id, reason };
    }
    memory.settling = { answered, end, at: clock.now() };
    await race(
      stop,
      () => answered,
      (signal) => clock.sleep(PATIENCE_MS, signal),
    );
  }

  function endSettlement(memory: Memory, reason: Error): void {
    memory.settling?.end.abort(reason);
    delete memory.settling;
  }

  /** ms until the payment is to be settled once more. */
  function untilDue(call: Call, memory: Memory): number {
    const { settled } = memory;
    if (!settled) return 0;
    return settled.at + pauseOf(call, memory, settled.answer) - clock.now();
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
    return isRefused(memory) || (memory.settled !== undefined && memory.settled.at + BELIEVED_MS <= clock.now());
  }

  /** Whether a facilitator has been silent for so long that another one, if any may settle the payment, is asked too. */
  function isOverdue(call: Call, { at }: { at: number }): boolean {
    if (at + BELIEVED_MS > clock.now()) return false;
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
