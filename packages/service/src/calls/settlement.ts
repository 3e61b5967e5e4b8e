import { deadline, race } from "../clock.ts";
import type { Facilitator, SettleAnswer } from "../payment/facilitator.ts";
import type { Rail } from "../payment/rails/rail.ts";
import { settlementReceipt } from "../payment/receipt.ts";
import { forwardedPayment } from "../payment/resource.ts";
import type { Call } from "./call.ts";
import type { CallEvent } from "./machine.ts";
import { type EffectsOptions, MAX_PAUSE_MS, type Memory, pauseAfter } from "./perform.ts";

/** How long a settlement that the facilitator reports as successful may take to show before it is asked again, in ms. */
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
/** Until the first look at a payment that is not final yet; the pauses double, because Base takes some 20 minutes. */
const FIRST_LOOK_MS = 15_000;
const MAX_DOUBLINGS = 5;

/** The effects on a call's payment: it is settled, found on its chain, and watched until it is final. */
export function createSettlement(options: EffectsOptions) {
  const { rails, facilitators, ledger, resourceOf, log, clock, deadlineMs, settleMs } = options;
  return { begin, reconcile, watch };

  function begin(call: Call, memory: Memory): CallEvent {
    memory.begun = call.settlements + 1;
    return { type: "settlement_begun" };
  }

  /** Sends the settlement that was committed; else looks for the payment on its chain, and settles again if it must. */
  async function reconcile(call: Call, memory: Memory, stop: AbortSignal): Promise<CallEvent | undefined> {
    if (memory.begun === call.settlements) return settle(call, memory, stop);
    const rail = railOf(call);
    const payment = rail.read(call.payload);
    const standing = await rail.standing(payment, deadline(clock, deadlineMs, stop));
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
          await race(
            stop,
            () => answered,
            (signal) => rail.news(deadline(clock, MAX_PAUSE_MS, signal)),
          );
          return undefined;
        }
        if (facilitators.has(call.rail) && untilDue(call, memory) <= 0) return begin(call, memory);
        memory.waiting = memory.settled?.answer.success === false;
        if (memory.waiting && call.settlements >= MANY_REFUSALS) await clock.sleep(untilDue(call, memory), stop);
        else await rail.news(deadline(clock, MAX_PAUSE_MS, stop));
        return undefined;
    }
  }

  /** Looks at a delivered payment until it is final. One that has vanished is settled again while it can be. */
  async function watch(call: Call, memory: Memory, stop: AbortSignal): Promise<CallEvent | undefined> {
    const looks = memory.looks ?? 0;
    memory.waiting = true;
    await clock.sleep(FIRST_LOOK_MS * 2 ** Math.min(looks, MAX_DOUBLINGS), stop);
    const rail = railOf(call);
    const standing = await rail.standing(rail.read(call.payload), deadline(clock, deadlineMs, stop));
    // Only a look that got an answer lengthens the pause: the payment may vanish while its nodes are silent.
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

  /**
   * Sends a settlement, and waits a while for it. Its answer, whenever it comes, is a hint: only the chain decides what
   * became of the payment, and is looked at meanwhile.
   */
  async function settle(call: Call, memory: Memory, stop: AbortSignal): Promise<undefined> {
    delete memory.begun;
    const { payload, requirement, subject } = call;
    const facilitator = facilitatorOf(call);
    const forwarded = forwardedPayment(railOf(call).read(payload), requirement, resourceOf(subject));
    const end = new AbortController();
    const answered = facilitator
      .settle(forwarded, requirement, AbortSignal.any([end.signal, deadline(clock, settleMs, stop)]))
      .catch((error: Error): SettleAnswer => ({ success: false, reason: error.message }))
      .then((answer) => {
        // The chain has decided already.
        if (end.signal.aborted) return;
        delete memory.settling;
        if (answer.success) ledger.prepare(deadline(clock, deadlineMs, stop));
        else log.warn({ key: call.key, reason: answer.reason }, "the facilitator confirms no settlement");
        memory.settled = { answer, at: clock.now() };
      });
    memory.settling = { answered, end };
    await race(
      stop,
      () => answered,
      (signal) => clock.sleep(PATIENCE_MS, signal),
    );
  }

  function endSettlement(memory: Memory): void {
    memory.settling?.end.abort(new Error("the chain has decided what became of the payment"));
    delete memory.settling;
  }

  /** ms until the payment is to be settled once more. */
  function untilDue({ settlements }: Call, { settled }: Memory): number {
    if (!settled) return 0;
    const refused = settlements < MANY_REFUSALS ? pauseAfter(settlements + 1) : MAX_REST_MS;
    return settled.at + (settled.answer.success ? BELIEVED_MS : refused) - clock.now();
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
