import { fromBase64, toBase64 } from "@attestd/proof/encoding";
import { commitsToHeader, MAX_INTERVAL } from "@attestd/proof/state-proof/messages";
import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import type { Clock } from "../../lib/clock.ts";
import { count } from "../../observe/metrics/meter.ts";
import type { EvidenceKind, EvidenceQueue, KeptStateProof } from "./journal.ts";
import { lightPathFrom, mostShown, provenNext } from "./nodes.ts";
import { type Carry, createPace } from "./pace.ts";
import { createStateProofs, type StateProofOptions } from "./state-proofs.ts";

export type CollectorOptions = StateProofOptions & { clock: Clock; log: Logger };

/** Between two looks into the journal, in ms. */
const PAUSE_MS = 1_000;
/** Records or sources of a round that are worked on at once. */
const MAX_AT_ONCE = 256;
/** Rounds after which the next queue has its turn: each may need a block, and a batch has sources in many. */
const MAX_ROUNDS = 100;
/** Rounds of which it is remembered how often a header was dropped. */
const MAX_DROPPED = 1_000;

/**
 * Collects the evidence of delivered bundles, one round after the other: what a node must be asked for is asked once for all
 * that stands in a round, and a state proof once for all its rounds. The blocks that the ledger's watcher has read anyway show
 * what stands in them; a node is asked for a block only when that one is no longer kept.
 *
 * First a block shows that records and sources stand in it, then a state proof that stake has signed for its header. What is
 * kept follows from the header's root, and of each round one record is verified as any verifier will do it. Everything may be
 * done twice: after a crash the journal's rows say what is left.
 */
export function createCollector(options: CollectorOptions) {
  const { journal, nodes, newest, work, clock, log } = options;
  const proofOf = createStateProofs(options);
  /** How many headers of a round were dropped: as many nodes have lied, and others are asked first. */
  const dropped = new LRUCache<number, number>({ max: MAX_DROPPED });
  const { each, attempt, putOff } = createPace({ journal, clock, log });
  const carries: readonly [EvidenceQueue, Carry][] = [
    ["record", (round, ends) => includeRound("record", round, ends)],
    ["source", (round, ends) => includeRound("source", round, ends)],
    ["block", proveBlock],
  ];

  return {
    /** Collects until `stop`. Never rejects. */
    async run(stop: AbortSignal): Promise<void> {
      let told: string | undefined;
      while (!stop.aborted) {
        const failure = await collect(stop).then(
          () => undefined,
          (error: unknown) => error,
        );
        const words = failure === undefined ? undefined : String(failure);
        // Once, and not every second for as long as the journal is away.
        if (words !== undefined && words !== told && !stop.aborted)
          log.warn({ err: failure }, "evidence cannot be collected");
        told = words;
        await clock.sleep(PAUSE_MS, stop).catch(() => undefined);
      }
    },
    collect,
    backfill,
  };

  /**
   * Tries every round of an unfinished record once, whether or not it is due, and what is due of sources.
   * @returns how many such rounds there were, and those that still are unfinished, ascending
   * @throws Error of the journal, or as `stop` says
   */
  async function backfill(stop: AbortSignal): Promise<{ rounds: number; left: number[] }> {
    const before = await journal.unfinishedRounds();
    for (const [queue, carry] of carries)
      for (const round of before) {
        stop.throwIfAborted();
        await attempt(queue, round, stop, carry);
      }
    await collectDue(stop);
    return { rounds: before.length, left: await journal.unfinishedRounds() };
  }

  /** Collects what can be had now, unless another replica does. @throws Error of the journal */
  async function collect(stop: AbortSignal): Promise<void> {
    if (await journal.collects()) await collectDue(stop);
  }

  async function collectDue(stop: AbortSignal): Promise<void> {
    for (const [queue, carry] of carries) await each(queue, stop, carry, MAX_ROUNDS);
  }

  /** Shows that records or sources stand in the block of their round. */
  async function includeRound(kind: EvidenceKind, round: number, ends: AbortSignal): Promise<boolean> {
    let fault: "wrong" | "forgotten" | undefined;
    const first = (dropped.get(round) ?? 0) % nodes.algods.length;
    const algods = [...nodes.algods.slice(first), ...nodes.algods.slice(0, first)];
    for (let after = ""; fault !== "forgotten"; ) {
      const waiting = await journal.waiting(kind, round, after, MAX_AT_ONCE);
      const [one, last] = [waiting[0], waiting.at(-1)];
      if (one === undefined || last === undefined) break;
      const canary = kind === "record" && after === "" ? await journal.verifiable(one.id) : undefined;
      const include = (block: Uint8Array) => work.include(block, round, waiting, canary);
      const most = await mostShown([newest.block(round), ...algods], round, include, ends);
      if (most === undefined) fault = "forgotten";
      else {
        const shown = waiting.flatMap(({ id }, i) => (most.found[i] ? [{ id, ...most.found[i] }] : []));
        const block = { round, headerBase64: most.headerBase64, due: clock.now() };
        const isKept = shown.length > 0 && (await journal.include(kind, block, shown));
        if (isKept) count("evidence", { of: kind, outcome: "included" }, shown.length);
        if (!isKept || shown.length < waiting.length) fault = "wrong";
      }
      after = last.id;
    }
    if (fault) await putOff(kind, round, fault);
    return true;
  }

  /** Shows that stake has signed for the header of a round. @returns whether to go on with the next one */
  async function proveBlock(round: number, ends: AbortSignal): Promise<boolean> {
    const headerBase64 = await journal.openBlock(round);
    if (headerBase64 === undefined) return true;
    const header = fromBase64(headerBase64);
    const next = provenNext(header);
    // No network is further ahead of its headers. A state proof that never comes would keep all later rounds back.
    if (next > round + 2 * MAX_INTERVAL) return beginAgain(round);
    const found = await proofOf(round, next, ends);
    if (typeof found === "object") await proveBy(found, round, header, ends);
    else if (found === "forgotten") await putOff("block", round, found);
    else if (found === "never") await step({ round, to: "impossible" });
    // The network made no state proofs then. Whether its first one will reach back is waited for by records alone.
    else if (next === 0) await journal.postpone("block", round, clock.now(), Number.MAX_SAFE_INTEGER);
    // Later rounds are not proven before this one.
    return found !== "early";
  }

  async function proveBy({ sha256, message }: KeptStateProof, round: number, header: Uint8Array, ends: AbortSignal) {
    const leads = (siblings: Uint8Array[]) => commitsToHeader(message, header, siblings);
    const asked = await lightPathFrom(nodes.algods, round, leads, ends);
    if (typeof asked === "object")
      return step({ round, to: "whole", siblings: asked.map(toBase64), stateProofSha256: sha256 });
    if (asked === "forgotten") return putOff("block", round, asked);
    await beginAgain(round);
  }

  /** Drops a header that is not the one that the stake signed for: a node lied. @returns true */
  async function beginAgain(round: number): Promise<true> {
    dropped.set(round, (dropped.get(round) ?? 0) + 1);
    await step({ round, to: "waiting" });
    for (const kind of ["record", "source"] as const) await putOff(kind, round, "wrong");
    return true;
  }

  async function step(taken: Parameters<typeof journal.stepBlock>[0]): Promise<void> {
    await journal.stepBlock(taken);
    count("evidence", { of: "block", outcome: taken.to });
  }
}
