import { join } from "node:path";
import pino from "pino";
import { expect, test } from "vitest";
import { sampleOf } from "../../../../../test/helpers/samples.ts";
import { temporaryFolder } from "../../../../../test/helpers/temporary-folder.ts";
import { aCall, GOOD_COURSE, take } from "../../../test/fakes/calls.ts";
import { startPostgres } from "../../../test/fakes/postgres.ts";
import type { CallEvent } from "../../calls/machine.ts";
import { createRunner, type Runner } from "../../calls/runner.ts";
import type { WholeJournal } from "../../journal/journal.ts";
import { openPostgresJournal } from "../../journal/postgres/journal.ts";
import { openSqliteJournal } from "../../journal/sqlite/journal.ts";
import { systemClock } from "../../lib/clock.ts";
import { startMetrics } from "../../observe/metrics/meter.ts";
import { type Gauged, openGauges } from "./gauges.ts";

/** Opens the gauges of a service in which only the calls matter. */
const gaugesOf = (journal: WholeJournal, runner: Runner) =>
  openGauges({
    ...{ journal, runner, enabled: [], pools: {} },
    rounds: { latest: () => 1, latestAt: () => 0, behind: () => 0 },
    capacity: { affordable: () => 1n },
    readiness: () => ({ ready: true }) as ReturnType<Gauged["readiness"]>,
    offers: { unavailable: () => [] },
    evidence: { ageMs: () => 0 },
  });

const [PAID] = GOOD_COURSE as [CallEvent];
const SETTLING: CallEvent = { type: "settlement_begun" };
const OWED: CallEvent = { type: "attestation_blocked", reason: "the account is out of ALGO" };
const MINUTE_MS = 60_000;

async function sqlite(opened: AsyncDisposableStack) {
  const { path } = opened.use(await temporaryFolder());
  return () => openSqliteJournal(join(path, "journal.sqlite"));
}

async function postgres(opened: AsyncDisposableStack) {
  const server = await startPostgres();
  opened.defer(() => server.close());
  const url = await server.database();
  return () => openPostgresJournal(url);
}

test.each([
  ["SQLite", sqlite],
  ["PostgreSQL", postgres],
])("after a restart on %s owed calls are still seen, and calls are as old as they are", async (_, database) => {
  await using opened = new AsyncDisposableStack();
  const open = await database(opened);
  const earlier = await open();
  const now = Date.now();
  await take(earlier, aCall({ key: "owed", createdAt: now - 10 * MINUTE_MS }), [SETTLING, PAID, OWED]);
  await take(earlier, aCall({ key: "paid", createdAt: now - 5 * MINUTE_MS }), [SETTLING, PAID]);
  await take(earlier, aCall({ key: "settling", createdAt: now - 20 * MINUTE_MS }), [SETTLING]);
  await take(earlier, aCall({ key: "done", createdAt: now - 60 * MINUTE_MS }), GOOD_COURSE);
  await earlier.release();
  await earlier.close();

  const journal = await open();
  opened.defer(() => journal.close());
  // A call that can only wait still counts as waiting: here a facilitator refuses its payment until it has expired.
  const runner = createRunner({
    ...{ journal, clock: systemClock, log: pino({ level: "silent" }) },
    async perform(_call, _effect, memory, deadline) {
      memory.waiting = true;
      await deadline.sleep(MINUTE_MS);
      return undefined;
    },
  });
  opened.defer(() => runner.stop());
  await runner.resume();
  opened.defer(gaugesOf(journal, runner));
  const text = await (await startMetrics()).text();
  const inFlight = ["owed", "paid", "settling", "done"].map((state) =>
    sampleOf(text, "attestd_calls_in_flight", { state }),
  );
  expect(inFlight).toEqual([1, 1, 1, undefined]);
  const minutes = ["proved", "unproved"].map((payment) =>
    Math.floor((sampleOf(text, "attestd_oldest_call_seconds", { payment }) ?? 0) / 60),
  );
  expect(minutes).toEqual([10, 20]);
});
