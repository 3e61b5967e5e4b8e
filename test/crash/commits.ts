import { setTimeout as sleep } from "node:timers/promises";
import type { Call, CallState } from "../../packages/service/src/calls/call.ts";
import type { Journal } from "../../packages/service/src/calls/journal.ts";
import type { CallEvent } from "../../packages/service/src/calls/machine.ts";

export type { Journal } from "../../packages/service/src/calls/journal.ts";

/** What a call's commits are called: its insertion, and the event that each update applies. */
export type CommitName = "call_prepared" | CallEvent["type"];

/** Where to die: before a commit is handed to the journal, some ms after that without waiting, or once it is durable. */
export type CommitPoint = {
  commit: CommitName;
  /** Which commit of that name in this process, counted from 1. */
  nth: number;
  side: "before" | "during" | "after";
  /** Of `during`. */
  afterMs?: number;
};

export type CommitWatch = {
  killAt?: CommitPoint;
  kill(): void;
  /** Told of each commit once it is durable, before the service hears of it. */
  committed(name: CommitName): void;
};

/** The journal with somebody standing at its door. What is not a commit of a call passes unseen. */
export function watchCommits<J extends Journal>(journal: J, { killAt, kill, committed }: CommitWatch): J {
  const states = new Map<string, CallState>();
  const seen = new Map<CommitName, number>();

  async function commit<T>(name: CommitName, hand: () => Promise<T>): Promise<T> {
    const nth = (seen.get(name) ?? 0) + 1;
    seen.set(name, nth);
    const side = killAt?.commit === name && killAt.nth === nth ? killAt.side : undefined;
    if (side === "before") kill();
    const handed = hand();
    if (side === "during") {
      await sleep(killAt?.afterMs);
      kill();
    }
    const result = await handed;
    if (side === "after") kill();
    committed(name);
    return result;
  }

  const watched: Pick<Journal, "insert" | "update" | "lease"> = {
    insert: (call) => commit("call_prepared", () => journal.insert(call)),
    async update(after) {
      const name = nameOf(after, states.get(after.key));
      await commit(name, () => journal.update(after));
      states.set(after.key, after.state);
    },
    async lease(limit) {
      const calls = await journal.lease(limit);
      for (const { key, state } of calls) states.set(key, state);
      return calls;
    },
  };
  return new Proxy(journal, {
    get(target, name) {
      if (name in watched) return watched[name as keyof typeof watched];
      const member = Reflect.get(target, name);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

/** The event that led to a call, told by its state and the one before. */
function nameOf({ state, attempts }: Call, before: CallState | undefined): CommitName {
  switch (state) {
    case "prepared":
      return "call_prepared";
    case "settling":
      return "settlement_begun";
    case "paid":
      return attempts.length > 0 ? "attestation_dead" : "payment_proved";
    case "signed":
      return "attestation_signed";
    case "owed":
      return "attestation_blocked";
    case "confirmed":
      return "attestation_confirmed";
    case "done":
      return before === "done" ? "payment_seen_again" : "bundle_sealed";
    case "void":
      return "payment_void";
    case "loss":
      return "payment_lost";
    case "refunded":
      throw new Error("the service itself refunds nothing");
  }
}
