import type { Logger } from "pino";
import { type Clock, deadlineOf, race } from "../lib/clock.ts";
import { hasCode } from "../lib/errors.ts";
import { rowOf } from "./apart.ts";
import type { Call } from "./call.ts";
import { journalBehind } from "./copied.ts";
import type { Journal } from "./journal.ts";
import { type CallEvent, isDeferred, isFinal, isUnpaid, nextEffect, reduce, toCommit } from "./machine.ts";
import { isOwnCause, type Memory, type Perform, pauseAfter } from "./perform.ts";
import { isOver, type Running, see } from "./running.ts";

export type LoopOptions = {
  journal: Pick<Journal, "find" | "update">;
  perform: Perform;
  clock: Clock;
  log: Logger;
  /** Whether the leases of this replica may have lapsed: then another one may carry its calls. */
  mayHaveLapsed: () => boolean;
  /** Called with each transition. */
  onTransition: ((before: Call, after: Call) => void) | undefined;
  /** Called with a call that became final. */
  onEnd: (key: string, call: Call | undefined) => void;
  /** Called with what was known of a call when the journal lacked it. */
  onLoss: (key: string, seen: Running["seen"]) => void;
};

/** Failures in a row after which a paid call counts as owed, which is logged as an error. */
const OWED_AFTER_FAILURES = 3;
/** How long an effect may take until the deferred event before it is committed alone, in ms: then the row is behind for long. */
const KEEP_AFTER_MS = 1_000;
/**
 * Carries one call from effect to effect: decides by its row (machine.ts), performs, commits, and takes up again what failed.
 *
 * @returns the loop of a call until it is delivered, and a look at the payment of one that is; neither ever rejects
 */
export function createLoop(options: LoopOptions) {
  const { journal, perform, clock, log, mayHaveLapsed, onTransition, onEnd, onLoss } = options;
  return {
    /** Ends when the call is final or its signal aborts. */
    async carry(carried: Running): Promise<void> {
      while (!isOver(carried) && !isFinal(carried.seen.state)) await attempt(carried);
    },

    /** Looks at a delivered payment once. @param seen called when the call's row is not needed any more */
    watch: attempt,
  };

  async function attempt(carried: Running, advanced?: () => void): Promise<void> {
    try {
      await advance(carried).finally(advanced);
      carried.memory.failures = 0;
    } catch (error) {
      if (!carried.end.signal.aborted) await recover(carried, error);
    }
  }

  async function advance(carried: Running): Promise<void> {
    if (!carried.call) await look(carried);
    await step(carried);
  }

  /** Reads the row of a call whose head alone is known. */
  async function look(carried: Running): Promise<void> {
    const { key } = carried;
    const found = await journal.find(key);
    if (isLost(carried, found)) throw journalBehind(`the call of ${key}`);
    see(carried, found);
  }

  async function step(carried: Running): Promise<void> {
    const { call, memory, end } = carried;
    if (!call) throw new Error(`the call of ${carried.key} rests`);
    if (!isUnpaid(call.state)) carried.paidSince ??= clock.now();
    const wasTakenOver = noteLapse(memory);
    try {
      const effect = nextEffect(call, memory.unsent === call.settlements);
      const performed = perform(call, effect, memory, deadlineOf(clock, end.signal));
      if (carried.isAhead) await keepUnlessQuick(carried, performed);
      const event = await performed;
      // The process may have stood still meanwhile, while another one attested for the payment.
      if (event?.type === "attestation_signed" && noteLapse(memory) && !wasTakenOver) return;
      // Before the commit: an event has a next effect, so that the call counts as active again.
      if (event) memory.waiting = false;
      // Not by any effect that works: what a ledger refuses is signed anew, and then refused again.
      if (event?.type === "attestation_confirmed") memory.isHeldUp = false;
      if (event) await commit(carried, carried.call ?? call, event);
    } finally {
      memory.release?.();
      delete memory.release;
    }
  }

  /** Notes that another replica may have the call. @returns whether one may have had it, now or before */
  function noteLapse(memory: Memory): boolean {
    memory.isTakenOver ||= mayHaveLapsed();
    return memory.isTakenOver;
  }

  /** Commits a deferred event alone when the effect after it is not quick: the row's state is read by others. Never rejects. */
  async function keepUnlessQuick(carried: Running, performed: Promise<unknown>): Promise<void> {
    const quick = performed.then(() => true).catch(() => true);
    const slow = async (ends: AbortSignal) => clock.sleep(KEEP_AFTER_MS, ends).then(() => false);
    const isQuick = await race(carried.end.signal, () => quick, slow).catch(() => true);
    // Where it fails the commit of what follows fails, too, or carries the event.
    if (!isQuick) await keep(carried).catch(() => undefined);
  }

  /** Commits a deferred event alone. */
  async function keep(carried: Running): Promise<void> {
    const { call } = carried;
    if (!call || !carried.isAhead) return;
    const kept = toCommit(call);
    await journal.update(kept);
    see(carried, kept);
  }

  /**
   * A failed effect changed nothing but what was committed: logs, pauses, reads the row again, and commits what a chain showed
   * before the failure. While the journal cannot be read it is asked for nothing else.
   */
  async function recover(carried: Running, error: unknown): Promise<void> {
    if (hasCode(error, "call_stale") && (await reread(carried)) !== "same") return;
    const { key, memory, end } = carried;
    const { state } = carried.seen;
    memory.failures += 1;
    memory.isHeldUp = isOwnCause(error);
    log.warn({ err: error, key, state, failures: memory.failures }, "call held up");
    await clock.sleep(pauseAfter(memory.failures), end.signal).catch(() => undefined);
    // Whoever ended the loop may have moved the call on from another row.
    if (end.signal.aborted) return;
    const row = await reread(carried);
    const { call } = carried;
    if (row === "unread" || !call) return;
    const isOwed = (call.state === "paid" || call.state === "signed") && memory.failures >= OWED_AFTER_FAILURES;
    const reason = error instanceof Error ? error.message : String(error);
    const kept = isOwed ? commit(carried, call, { type: "attestation_blocked", reason }) : keep(carried);
    await kept.catch(() => undefined);
  }

  /** Reads the row again. @returns `moved` when another writer has moved it, which is then taken over */
  async function reread(carried: Running): Promise<"moved" | "same" | "unread"> {
    const read = await journal.find(carried.key).then(
      (found) => ({ found }),
      () => undefined,
    );
    if (!read || isLost(carried, read.found)) return "unread";
    const { found } = read;
    if (found.version === carried.seen.version) return "same";
    see(carried, found);
    // The event that it waited for may have happened.
    carried.memory.waiting = false;
    return "moved";
  }

  /** Whether the journal lacks what it had of a call. Then its loop ends: what it knows cannot be carried on from the row. */
  function isLost({ key, seen, end }: Running, found: Call | undefined): found is undefined {
    if (found && found.version >= seen.version) return false;
    onLoss(key, seen);
    end.abort(journalBehind(`the call of ${key}`));
    return true;
  }

  async function commit(carried: Running, before: Call, event: CallEvent): Promise<void> {
    const after = reduce(before, event);
    if (!isDeferred(event)) await journal.update(after);
    see(carried, rowOf(after), isDeferred(event));
    onTransition?.(before, after);
    const { key, state, reason } = after;
    const line = { key, from: before.state, to: state, ...(reason && { reason }) };
    if (state === "owed" || state === "loss") log.error(line, event.type);
    else log.info(line, event.type);
    if (isFinal(state)) onEnd(key, carried.call);
  }
}
