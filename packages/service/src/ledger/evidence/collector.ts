import { fromBase64 } from "@attestd/proof/encoding";
import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import { digestsOf } from "../../chains/algorand/light-header.ts";
import { type Clock, deadline } from "../../clock.ts";
import { count } from "../../metrics/meter.ts";
import type { Algod } from "../../providers/algod.ts";
import { isUnusable, unavailable } from "../../providers/provider.ts";
import type { EvidenceStep, Unfinished, UnfinishedState } from "./journal.ts";
import { provenNext } from "./nodes.ts";
import { createStateProofs, type FoundStateProof, type StateProofOptions } from "./state-proofs.ts";

export type CollectorOptions = StateProofOptions & { clock: Clock; log: Logger };

/** Works on a round. @returns whether to go on with the next one */
type Carry = (round: number, ends: AbortSignal) => Promise<boolean>;
type Proof = Extract<FoundStateProof, { kind: "proof" }>;

/** Between two looks into the journal, in ms. */
const PAUSE_MS = 1_000;
/** For the evidence of one round, or of one interval. */
const ROUND_MS = 60_000;
/** Attestations of a round that are worked on at once: their bundles may be of two MiB each. */
const MAX_AT_ONCE = 16;
/** When a round is tried again, in ms: twice as late each time, up to an hour. */
const RETRY_MS = 15_000;
const MAX_RETRY_MS = 60 * 60_000;
/** Rounds of which it is remembered how often they were tried. */
const MAX_TRIED = 10_000;

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
  /** The last pauses of rounds that were put off, in ms. */
  const tried = new LRUCache<number, number>({ max: MAX_TRIED });

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
    await each("included", stop, proveInterval);
  }

  async function each(state: UnfinishedState, stop: AbortSignal, carry: Carry): Promise<void> {
    for (let goesOn = true; goesOn && !stop.aborted; ) {
      const round = await journal.dueRound(state, clock.now());
      if (round === undefined) return;
      goesOn = await attempt(state, round, stop, carry);
    }
  }

  /** Works on a round for a bounded time. @returns whether to go on with the next one @throws when it was stopped */
  async function attempt(state: UnfinishedState, round: number, stop: AbortSignal, carry: Carry): Promise<boolean> {
    return carry(round, deadline(clock, ROUND_MS, stop)).catch(async (err: unknown) => {
      if (stop.aborted) throw err;
      // Whatever it is, it must not keep the other rounds from their evidence.
      await putOff(state, round, "unanswered", err);
      return true;
    });
  }

  async function putOff(
    state: UnfinishedState,
    round: number,
    why: "unanswered" | "wrong" | "forgotten",
    err?: unknown,
  ): Promise<void> {
    count("evidence", { outcome: why });
    log.warn({ err, round, state }, `the evidence of a round is ${why}: it is tried again`);
    const again = Math.min((tried.get(round) ?? RETRY_MS / 2) * 2, MAX_RETRY_MS);
    tried.set(round, again);
    await journal.postpone(state, round, clock.now() + again);
  }

  async function step(steps: readonly EvidenceStep[]): Promise<void> {
    await journal.step(steps);
    for (const { to } of steps) count("evidence", { outcome: to });
  }

  /** Shows that the attestations of a round stand in its block. */
  async function includeRound(round: number, ends: AbortSignal): Promise<boolean> {
    for (;;) {
      const delivered = await journal.unfinished("waiting", round, MAX_AT_ONCE);
      if (delivered.length === 0) return true;
      const steps = await includedIn(round, delivered, ends);
      await step(steps ?? []);
      if (steps?.length === delivered.length) continue;
      await putOff("waiting", round, steps ? "wrong" : "forgotten");
      return true;
    }
  }

  /** @returns of those that a block shows; undefined when no node keeps it. @throws ProviderError when a node gives no answer */
  async function includedIn(
    round: number,
    delivered: readonly Unfinished[],
    ends: AbortSignal,
  ): Promise<EvidenceStep[] | undefined> {
    const read = newest.block(round);
    let most: EvidenceStep[] | undefined;
    let failure: unknown;
    for (const source of [...(read ? [read] : []), ...nodes.algods]) {
      try {
        const block = source instanceof Uint8Array ? source : await blockFrom(source, round, ends);
        if (block === undefined) continue;
        const items = await work.include(block, round, delivered);
        const steps = delivered.flatMap(({ txnId }, index): EvidenceStep[] => {
          const inclusion = items[index];
          return inclusion ? [{ txnId, to: "included", inclusion }] : [];
        });
        if (steps.length === delivered.length) return steps;
        if (most === undefined || steps.length > most.length) most = steps;
      } catch (error) {
        if (ends.aborted || !isUnusable(error)) throw error;
        failure ??= error;
      }
    }
    if (most === undefined && failure !== undefined) throw failure;
    return most;
  }

  /** @throws ProviderError also while the node does not have the round yet */
  async function blockFrom(algod: Algod, round: number, ends: AbortSignal): Promise<Uint8Array | undefined> {
    const block = await algod.block(round, ends);
    if (block === undefined && (await algod.lastRound(ends)) < round)
      throw unavailable(`${algod.name} does not have round ${round} yet`);
    return block;
  }

  /** Proves the attestations of a round and, once its state proof is there, those of all its rounds. */
  async function proveInterval(round: number, ends: AbortSignal): Promise<boolean> {
    const [first] = await journal.unfinished("included", round, 1);
    if (first?.inclusion === undefined) return true;
    const found = await proofOf(round, provenNext(fromBase64(first.inclusion.headerBase64)), ends);
    switch (found.kind) {
      case "early":
        // Later rounds are not proven before this one.
        return false;
      case "forgotten":
        await putOff("included", round, "forgotten");
        return true;
      case "never":
        await moveRound(round, "impossible");
        return true;
      case "proof": {
        const { firstAttestedRound, lastAttestedRound } = found.proof.message;
        const rounds = await journal.unfinishedRounds("included", firstAttestedRound, lastAttestedRound);
        for (const one of rounds) await proveRound(one, found, ends);
        return true;
      }
    }
  }

  async function moveRound(round: number, to: "impossible" | "waiting"): Promise<void> {
    for (;;) {
      const left = await journal.unfinished("included", round, MAX_AT_ONCE);
      if (left.length === 0) return;
      await step(left.map(({ txnId }) => ({ txnId, to })));
    }
  }

  async function proveRound(round: number, { proof, content }: Proof, ends: AbortSignal): Promise<void> {
    let isServed = false;
    let failure: unknown;
    for (const algod of nodes.algods) {
      try {
        const path = await algod.lightHeader(round, ends);
        if (path === undefined) continue;
        isServed = true;
        if (await restRound(round, content, proof, digestsOf(path.siblings))) return;
      } catch (error) {
        if (ends.aborted || !isUnusable(error)) throw error;
        failure ??= error;
      }
    }
    if (failure !== undefined) return putOff("included", round, "unanswered", failure);
    if (!isServed) return putOff("included", round, "forgotten");
    // The header by which they were included is not the one that the stake signed for: a node lied.
    await moveRound(round, "waiting");
    await putOff("waiting", round, "wrong");
  }

  /** @returns whether the evidence of every attestation of the round is whole */
  async function restRound(
    round: number,
    content: Uint8Array,
    proof: Proof["proof"],
    siblings: readonly Uint8Array[],
  ): Promise<boolean> {
    for (;;) {
      const left = await journal.unfinished("included", round, MAX_AT_ONCE);
      if (left.length === 0) return true;
      const items = await work.rest(content, proof, siblings, left);
      const steps = left.flatMap(({ txnId }, index): EvidenceStep[] => {
        const stateProof = items[index];
        return stateProof ? [{ txnId, to: "whole", stateProof }] : [];
      });
      await step(steps);
      if (steps.length < left.length) return false;
    }
  }
}
