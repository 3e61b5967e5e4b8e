import { fromBase64, toBase64 } from "@attestd/proof/encoding";
import { commitsToHeader } from "@attestd/proof/state-proof";
import type { Logger } from "pino";
import type { Clock } from "../../clock.ts";
import { count } from "../../metrics/meter.ts";
import { isUnusable } from "../../providers/provider.ts";
import type { EvidenceStep, KeptStateProof, UnfinishedState } from "./journal.ts";
import { lightPathFrom, mostShown, provenNext } from "./nodes.ts";
import { createPace } from "./pace.ts";
import { createSourceCollector } from "./source-collector.ts";
import type { SourceJournal } from "./source-journal.ts";
import { createStateProofs, type StateProofOptions } from "./state-proofs.ts";

export type CollectorOptions = StateProofOptions & { journal: SourceJournal; clock: Clock; log: Logger };

/** Between two looks into the journal, in ms. */
const PAUSE_MS = 1_000;
/** Attestations of a round that are worked on at once: their bundles may be of two MiB each. */
const MAX_AT_ONCE = 16;

/**
 * Collects the evidence of delivered attestations, one round after the other: what a node must be asked for is asked once for
 * all attestations of a round, and a state proof once for all its rounds. The blocks that the ledger's watcher has read anyway
 * show that an attestation stands in its round; a node is asked for a block only when that one is no longer kept.
 *
 * Everything is verified before it is kept, and may be done twice: after a crash the journal's rows say what is left.
 */
export function createCollector(options: CollectorOptions) {
  const { journal, nodes, newest, work, clock, log } = options;
  const proofOf = createStateProofs(options);
  const { each, attempt, putOff } = createPace<UnfinishedState>({
    of: "record",
    due: (state, now) => journal.dueRound(state, now),
    postpone: (state, round, due) => journal.postpone(state, round, due),
    clock,
    log,
  });
  const sources = createSourceCollector({ ...options, proofOf });

  return {
    /** Collects until `stop`. Never rejects. */
    async run(stop: AbortSignal): Promise<void> {
      while (!stop.aborted) {
        await collect(stop).catch((err: unknown) => {
          if (!stop.aborted) log.warn({ err }, "evidence cannot be collected");
        });
        await clock.sleep(PAUSE_MS, stop).catch(() => undefined);
      }
    },
    collect,
    backfill,
  };

  /**
   * Tries every unfinished round once, whether or not it is due.
   * @returns how many rounds were unfinished, and those that still are, ascending
   * @throws Error of the journal, or as `stop` says
   */
  async function backfill(stop: AbortSignal): Promise<{ rounds: number; left: number[] }> {
    const before = await unfinishedRounds();
    for (const [state, carry] of [
      ["waiting", includeRound],
      ["included", proveInterval],
    ] as const)
      for (const round of await journal.unfinishedRounds(state, 0, Number.MAX_SAFE_INTEGER)) {
        stop.throwIfAborted();
        await attempt(state, round, stop, carry);
      }
    await sources.collect(stop);
    return { rounds: before.length, left: await unfinishedRounds() };
  }

  async function unfinishedRounds(): Promise<number[]> {
    const states = ["waiting", "included"] as const;
    const all = await Promise.all(states.map((state) => journal.unfinishedRounds(state, 0, Number.MAX_SAFE_INTEGER)));
    return [...new Set(all.flat())].sort((a, b) => a - b);
  }

  /** Collects what can be had now, unless another replica does. @throws Error of the journal */
  async function collect(stop: AbortSignal): Promise<void> {
    if (!(await journal.collects())) return;
    await each("waiting", stop, includeRound);
    // A source is older than its attestation: where all goes well its evidence is whole first.
    await sources.collect(stop);
    await each("included", stop, proveInterval);
  }

  async function step(steps: readonly EvidenceStep[]): Promise<void> {
    await journal.step(steps);
    for (const { to } of steps) count("evidence", { of: "record", outcome: to });
  }

  /** Shows that the attestations of a round stand in its block. */
  async function includeRound(round: number, ends: AbortSignal): Promise<boolean> {
    for (;;) {
      const delivered = await journal.waiting(round, MAX_AT_ONCE);
      if (delivered.length === 0) return true;
      const include = (block: Uint8Array) => work.include(block, round, delivered);
      const shown = await mostShown([newest.block(round), ...nodes.algods], round, delivered, include, ends);
      await step([...(shown ?? [])].map(([{ txnId }, inclusion]) => ({ txnId, to: "included", inclusion })));
      if (shown?.size === delivered.length) continue;
      await putOff("waiting", round, shown ? "wrong" : "forgotten");
      return true;
    }
  }

  /** Proves the attestations of a round and, once its state proof is there, those of all its rounds. */
  async function proveInterval(round: number, ends: AbortSignal): Promise<boolean> {
    const [first] = await journal.included(round, 1);
    if (first === undefined) return true;
    const found = await proofOf(round, provenNext(fromBase64(first.inclusion.headerBase64)), ends);
    if (found === "forgotten") await putOff("included", round, found);
    if (found === "never") await moveRound(round, "impossible");
    if (typeof found === "object") {
      const { firstAttestedRound, lastAttestedRound } = found.message;
      const rounds = await journal.unfinishedRounds("included", firstAttestedRound, lastAttestedRound);
      for (const one of rounds) await proveRound(one, found, ends);
    }
    // Later rounds are not proven before this one.
    return found !== "early";
  }

  async function moveRound(round: number, to: "impossible" | "waiting"): Promise<void> {
    for (;;) {
      const left = await journal.included(round, MAX_AT_ONCE);
      if (left.length === 0) return;
      await step(left.map(({ txnId }) => ({ txnId, to })));
    }
  }

  async function proveRound(round: number, proof: KeptStateProof, ends: AbortSignal): Promise<void> {
    const rest = (siblings: Uint8Array[]) => restRound(round, proof, siblings);
    const asked = await lightPathFrom(nodes.algods, round, rest, ends).catch(async (error: unknown) => {
      if (ends.aborted || !isUnusable(error)) throw error;
      await putOff("included", round, "unanswered", error);
    });
    if (asked === "forgotten") await putOff("included", round, asked);
    if (asked !== "wrong") return;
    // The header by which they were included is not the one that the stake signed for: a node lied.
    await moveRound(round, "waiting");
    await putOff("waiting", round, "wrong");
  }

  /**
   * Shows that stake has signed for the header by which each attestation of a round was included.
   * @param siblings from the round's light header to the commitment of the message
   * @returns whether the evidence of each is whole
   */
  async function restRound(
    round: number,
    { sha256: stateProofSha256, message }: KeptStateProof,
    siblings: Uint8Array[],
  ): Promise<boolean> {
    // Of one round there is one header, unless a node has lied.
    const known = new Map<string, boolean>();
    const isCommitted = (headerBase64: string) => {
      const found = known.get(headerBase64) ?? commitsToHeader(message, fromBase64(headerBase64), siblings);
      known.set(headerBase64, found);
      return found;
    };
    const stake = { siblings: siblings.map(toBase64), stateProofSha256 };
    for (;;) {
      const left = await journal.included(round, MAX_AT_ONCE);
      if (left.length === 0) return true;
      const steps = left
        .filter(({ inclusion }) => isCommitted(inclusion.headerBase64))
        .map(({ txnId }): EvidenceStep => ({ txnId, to: "whole", ...stake }));
      await step(steps);
      if (steps.length < left.length) return false;
    }
  }
}
