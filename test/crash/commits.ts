import { setTimeout as sleep } from "node:timers/promises";
import type { Call, CallState } from "../../packages/service/src/calls/call.ts";
import type { Journal } from "../../packages/service/src/calls/journal.ts";
import type { CallEvent } from "../../packages/service/src/calls/machine.ts";
import type { EvidenceJournal } from "../../packages/service/src/ledger/evidence/journal.ts";

export type { Journal } from "../../packages/service/src/calls/journal.ts";

/** The name of a call's commit: its insertion, or the event that an update applies. */
export type CommitName = "call_begun" | CallEvent["type"];

/** A commit of the collector of evidence. */
export type EvidenceCommit = "record_included" | "source_included" | "state_proof_kept" | "block_whole";

/** The commit at which a process kills itself: before the journal gets it, `afterMs` after that, or once it is durable. */
export type CommitPoint = {
  commit: CommitName | EvidenceCommit;
  /** Which commit of that name in this process, counted from 1. */
  nth: number;
  side: "before" | "during" | "after";
  /** For `during`. */
  afterMs?: number;
};

export type CommitWatch = {
  killAt?: CommitPoint;
  kill(): void;
  /** Called with each commit once it is durable, before the service continues. */
  committed(name: CommitName): void;
};

/** A journal that reports the commits of calls, and kills the process at one of them. Other methods pass unchanged. */
export function watchCommits<J extends Journal>(journal: J, { killAt, kill, committed }: CommitWatch): J {
  const states = new Map<string, CallState>();
  const seen = new Map<CommitName | EvidenceCommit, number>();

  async function commit<T>(name: CommitName, write: () => Promise<T>): Promise<T> {
    const result = await killing(name, write);
    committed(name);
    return result;
  }

  async function killing<T>(name: CommitName | EvidenceCommit, write: () => Promise<T>): Promise<T> {
    const nth = (seen.get(name) ?? 0) + 1;
    seen.set(name, nth);
    const side = killAt?.commit === name && killAt.nth === nth ? killAt.side : undefined;
    if (side === "before") kill();
    const written = write();
    if (side === "during") {
      await sleep(killAt?.afterMs);
      kill();
    }
    const result = await written;
    if (side === "after") kill();
    return result;
  }

  const watched: Pick<Journal, "insert" | "update" | "lease"> = {
    insert: (call, ...more) => commit("call_begun", () => journal.insert(call, ...more)),
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
  // Of what its type does not show: `Seams` promises a journal of calls.
  const { include, stepBlock, keepStateProof } = journal as J & Partial<EvidenceJournal>;
  const evidence: Partial<EvidenceJournal> = {
    include: (kind, ...given) =>
      killing(`${kind}_included`, async () => (await include?.call(journal, kind, ...given)) ?? false),
    async stepBlock(step) {
      const write = async () => stepBlock?.call(journal, step);
      await (step.to === "whole" ? killing("block_whole", write) : write());
    },
    keepStateProof: (...given) => killing("state_proof_kept", async () => keepStateProof?.call(journal, ...given)),
  };
  const all = { ...watched, ...evidence };
  return new Proxy(journal, {
    get(target, name) {
      if (name in all) return all[name as keyof typeof all];
      const member = Reflect.get(target, name);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

/** The event of an update, from the call's state and the state before; of several, the last. */
function nameOf({ state, attempts }: Call, before: CallState | undefined): CommitName {
  switch (state) {
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
