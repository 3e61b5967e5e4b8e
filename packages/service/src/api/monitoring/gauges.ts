import type { CallState } from "../../calls/call.ts";
import type { Capacity } from "../../calls/capacity.ts";
import type { Runner } from "../../calls/runner.ts";
import { VERSION } from "../../catalogue/about.ts";
import { revisionOf } from "../../config/revision.ts";
import type { WholeJournal } from "../../journal/journal.ts";
import type { EvidenceWatch } from "../../ledger/evidence/watch.ts";
import type { Rounds } from "../../ledger/ledger.ts";
import type { PoolLoad } from "../../lib/workers/pool.ts";
import { count, gauge } from "../../observe/metrics/meter.ts";
import type { EnabledRail } from "../../payment/enabled-rail.ts";
import type { Offers } from "../../payment/offers.ts";
import type { Subject } from "../../subjects/subject.ts";
import type { Readiness } from "../endpoints/readiness.ts";

export type Gauged = {
  journal: Pick<WholeJournal, "freeBytes" | "sizeBytes">;
  runner: Pick<Runner, "states" | "oldest">;
  rounds: Pick<Rounds, "latest" | "latestAt" | "behind">;
  capacity: Pick<Capacity, "affordable">;
  readiness: () => Readiness;
  offers: Pick<Offers, "unavailable">;
  evidence: Pick<EvidenceWatch, "ageMs">;
  enabled: readonly EnabledRail[];
  /** The worker pools by their names. */
  pools: Readonly<Record<string, PoolLoad>>;
};

/** Final states of calls at which an operator must look. */
const OUTCOMES: readonly CallState[] = ["owed", "loss"];
const SUBJECTS: readonly Subject["kind"][] = ["transaction", "block", "inclusion", "batch"];

/** Publishes the state of a service as metrics. @returns a function that stops it */
export function openGauges(parts: Gauged): () => void {
  const { journal, runner, rounds, capacity, readiness, offers, enabled, evidence, pools } = parts;
  const one = (value: number | bigint | undefined) =>
    value === undefined ? [] : [{ labels: {}, value: Number(value) }];
  const ofPools = (read: (pool: PoolLoad) => number) =>
    Object.entries(pools).map(([pool, load]) => ({ labels: { pool }, value: read(load) }));
  for (const name of ["pruningFailures", "pruned", "journalLosses"] as const) count(name, {}, 0);
  for (const { rail } of enabled)
    for (const subject of SUBJECTS)
      for (const outcome of OUTCOMES) count("calls", { rail: rail.name, subject, outcome }, 0);
  const ends = [
    gauge("build", () => [{ labels: { version: VERSION, revision: revisionOf() ?? "unknown" }, value: 1 }]),
    gauge("ready", () => one(readiness().ready ? 1 : 0)),
    gauge("railOpen", () => {
      const closed = new Set<string>(offers.unavailable().map(({ network }) => network));
      return enabled.map(({ rail }) => ({ labels: { rail: rail.name }, value: closed.has(rail.network) ? 0 : 1 }));
    }),
    gauge("inFlight", () => [...runner.states()].map(([state, value]) => ({ labels: { state }, value }))),
    gauge("oldest", () =>
      Object.entries(runner.oldest()).map(([payment, ms]) => ({ labels: { payment }, value: ms / 1000 })),
    ),
    gauge("oldestEvidence", () => one(evidence.ageMs() / 1000)),
    gauge("affordable", () => one(capacity.affordable())),
    gauge("round", () => one(rounds.latest())),
    gauge("roundsBehind", () => one(rounds.behind())),
    gauge("roundAge", () => one((Date.now() - rounds.latestAt()) / 1000)),
    gauge("journalFree", async () => one(await journal.freeBytes())),
    gauge("journalSize", async () => one(await journal.sizeBytes())),
    gauge("workerJobs", () => ofPools(({ jobs }) => jobs())),
    gauge("workerThreads", () => ofPools(({ threads }) => threads())),
  ];
  return () => {
    for (const end of ends) end();
  };
}
