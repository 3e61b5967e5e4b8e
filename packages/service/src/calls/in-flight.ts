import { availableParallelism } from "node:os";
import { getHeapStatistics } from "node:v8";
import type { Rounds } from "../ledger/ledger.ts";
import type { Subject } from "../subjects/subject.ts";

/** What is in flight. `weight`: in calls for one transaction, by the memory that they take. */
export type Load = { calls: number; weight: number };

/** Heap of a call from its admission to its bundle, in bytes, at the most of it (docs/operating/scale.md has the run). */
const CALL_BYTES = 64 * 1024;
/** Items of a batch that take as much as a call does. */
const ITEMS_OF_A_CALL = 10;
/** Heap of a service that carries nothing, and that nothing of a call may use, in bytes. */
const IDLE_BYTES = 110 * 2 ** 20;
/** Calls a second that one core carries, and one process whatever its cores: half of a call's work is the main thread's. */
const CALLS_OF_A_CORE = 100;
const CALLS_OF_A_PROCESS = 200;
/** Rounds in which every call that was let in is delivered. It waits for two; in the others the work of those before it is done. */
const ROUNDS = 8;
/** Bounds of the time in which they are delivered, in s: a busy core is slower for a while, and a payer waits for its answer. */
const MIN_SECONDS = 10;
const MAX_SECONDS = 30;
/** Calls that any process can carry. */
const MIN_IN_FLIGHT = 100;

/** How much of what may be in flight a call takes: 1, and for a batch more. */
export function weightOf(subject: Subject): number {
  return subject.kind === "batch" ? 1 + Math.floor(subject.items.length / ITEMS_OF_A_CALL) : 1;
}

/**
 * How many calls for one transaction may be in flight in this process: as many as its memory has room for, and as it
 * delivers before their payers have waited for too long.
 *
 * @param heapBytes that V8 may use
 * @param cores that the process may use
 * @param roundMs time between two rounds of the ledger
 */
export function maxInFlight({ heapBytes, cores, roundMs }: { heapBytes: number; cores: number; roundMs: number }) {
  const byMemory = (heapBytes - IDLE_BYTES) / 2 / CALL_BYTES;
  const rate = Math.min(cores * CALLS_OF_A_CORE, CALLS_OF_A_PROCESS);
  const seconds = Math.min(MAX_SECONDS, Math.max(MIN_SECONDS, (ROUNDS * roundMs) / 1000));
  return Math.max(MIN_IN_FLIGHT, Math.floor(Math.min(byMemory, rate * seconds)));
}

/** The time between two rounds of MainNet as of 2026, in ms. */
const MAINNET_ROUND_MS = 2_800;

/** Follows the time between rounds; that of MainNet until it has seen two. */
export function watchInFlight(rounds: Pick<Rounds, "latest" | "latestAt">) {
  let last = { round: rounds.latest(), at: rounds.latestAt() };
  let roundMs = MAINNET_ROUND_MS;
  const own = { heapBytes: getHeapStatistics().heap_size_limit, cores: availableParallelism() };
  return {
    roundMs: () => roundMs,
    /** The weight that may be in flight in this process now. */
    max: () => maxInFlight({ ...own, roundMs }),
    /** Takes the time of the rounds that were read since the last refresh, if any were. */
    async refresh(): Promise<void> {
      const now = { round: rounds.latest(), at: rounds.latestAt() };
      if (now.round > last.round && last.at > 0) roundMs = (now.at - last.at) / (now.round - last.round);
      last = now;
    },
  };
}
