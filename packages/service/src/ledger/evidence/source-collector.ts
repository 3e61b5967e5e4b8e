import { fromBase64, toBase64 } from "@attestd/proof/encoding";
import { commitsToHeader } from "@attestd/proof/state-proof";
import type { Logger } from "pino";
import type { Clock } from "../../clock.ts";
import { count } from "../../metrics/meter.ts";
import { isUnusable } from "../../providers/provider.ts";
import type { KeptStateProof } from "./journal.ts";
import { lightPathFrom, mostShown, provenNext } from "./nodes.ts";
import { createPace } from "./pace.ts";
import type { SourceJournal, SourceStep, UnfinishedSource, UnfinishedSourceState } from "./source-journal.ts";
import type { createStateProofs, StateProofOptions } from "./state-proofs.ts";

export type SourceCollectorOptions = Pick<StateProofOptions, "nodes" | "newest" | "work"> & {
  journal: SourceJournal;
  clock: Clock;
  log: Logger;
  proofOf: ReturnType<typeof createStateProofs>;
};

/** Sources of a round that are worked on at once: all that a batch has. */
const MAX_AT_ONCE = 1_000;
/** Rounds of sources after which records have their turn: each may need a block, and a batch has sources in many. */
const MAX_ROUNDS = 100;
/** How long after its call a source is tried: then ordinary nodes have forgotten its round, in ms. */
const GIVE_UP_MS = 60 * 60_000;

/**
 * Collects what shows that the sources of delivered bundles stand in their blocks. Of a round a node is asked for everything
 * once, whatever number of sources it has. A source that no node shows for an hour is given up.
 */
export function createSourceCollector({ journal, nodes, newest, work, clock, log, proofOf }: SourceCollectorOptions) {
  const pace = createPace<UnfinishedSourceState>({
    of: "source",
    due: (state, now) => journal.dueSourceRound(state, now),
    postpone: (state, round, due) => journal.postponeSources(state, round, due),
    clock,
    log,
  });

  return {
    /** Collects what can be had now. @throws Error of the journal */
    async collect(stop: AbortSignal): Promise<void> {
      for (const [state, carry] of [
        ["waiting", includeRound],
        ["included", proveRound],
      ] as const)
        await pace.each(state, stop, (round, ends) => attempt(state, round, ends, carry), MAX_ROUNDS);
    },
  };

  async function attempt(
    state: UnfinishedSourceState,
    round: number,
    ends: AbortSignal,
    carry: typeof includeRound,
  ): Promise<boolean> {
    const sources = await journal.unfinishedSources(state, round, MAX_AT_ONCE);
    return carry(round, sources, ends).catch(async (error: unknown) => {
      if (ends.aborted || !isUnusable(error)) throw error;
      await fail(state, round, sources, "unanswered", error);
      return true;
    });
  }

  async function step(steps: readonly SourceStep[]): Promise<void> {
    if (steps.length === 0) return;
    await journal.stepSources(steps);
    for (const { to } of steps) count("evidence", { of: "source", outcome: to });
  }

  /** Shows that sources stand in their block. */
  async function includeRound(
    round: number,
    sources: readonly UnfinishedSource[],
    ends: AbortSignal,
  ): Promise<boolean> {
    const include = (block: Uint8Array) => work.includeSources(block, round, sources);
    const shown = await mostShown([newest.block(round), ...nodes.algods], round, sources, include, ends);
    await step([...(shown ?? [])].map(([{ id }, header]) => ({ id, to: "included", header })));
    const left = sources.filter((source) => !shown?.has(source));
    if (left.length > 0) await fail("waiting", round, left, shown ? "wrong" : "forgotten");
    return true;
  }

  /** Shows that stake has signed for the header of a round. @returns whether to go on with the next one */
  async function proveRound(round: number, sources: readonly UnfinishedSource[], ends: AbortSignal): Promise<boolean> {
    const [first] = sources;
    if (first?.header === undefined) return true;
    const header = fromBase64(first.header.headerBase64);
    const next = provenNext(header);
    const known = await proofOf(round, next, ends);
    // The network made no state proofs then: whether its first one will reach back to this round is not waited for.
    const found = next === 0 && typeof known === "string" ? "never" : known;
    if (found === "forgotten") await fail("included", round, sources, found);
    if (found === "never") await step(sources.map(({ id }) => ({ id, to: "absent" })));
    if (typeof found === "object") {
      const leads = (siblings: Uint8Array[]) => commitsToHeader(found.message, header, siblings);
      const asked = await lightPathFrom(nodes.algods, round, leads, ends);
      if (typeof asked === "object") await step(sources.map(({ id }) => wholeBy(id, asked, found)));
      else await fail("included", round, sources, asked);
    }
    // Later rounds are not proven before this one.
    return found !== "early";
  }

  /** What no node shows is tried again, and given up after some time. */
  async function fail(
    state: UnfinishedSourceState,
    round: number,
    sources: readonly UnfinishedSource[],
    why: "unanswered" | "wrong" | "forgotten",
    err?: unknown,
  ): Promise<void> {
    const given = sources.filter(({ since }) => since + GIVE_UP_MS < clock.now());
    await step(given.map(({ id }) => ({ id, to: "absent" })));
    if (given.length < sources.length) await pace.putOff(state, round, why, err);
  }
}

function wholeBy(id: string, siblings: readonly Uint8Array[], { sha256 }: KeptStateProof): SourceStep {
  return { id, to: "whole", siblings: siblings.map(toBase64), stateProofSha256: sha256 };
}
