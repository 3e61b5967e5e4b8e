import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import pino from "pino";
import { contextOfCalls } from "../packages/service/src/api/monitoring/traced.ts";
import type { Journal } from "../packages/service/src/calls/journal.ts";
import { createRunner } from "../packages/service/src/calls/runner.ts";
import { systemClock } from "../packages/service/src/lib/clock.ts";
import { aCall, aLargeEvidence, GOOD_COURSE, goodCourseFrom } from "../packages/service/test/fakes/calls.ts";
import { type Effort, judge, type Row } from "./measure.ts";

const CALLS = 2_000;
/** As a bundle on Base has. */
const BUNDLE_BYTES = 25_000;

/** Bytes of the heap for a delivered call whose payment is not final yet, beside its bundle alone. */
export async function run({ turns }: Effort): Promise<Row[]> {
  const samples = [];
  // What is loaded and compiled for the first calls is not theirs.
  await bytesOf(begin);
  for (let turn = 0; turn < turns; turn++)
    samples.push({ ours: (await bytesOf(begin)) / CALLS, yardstick: (await bytesOf(bundles)) / CALLS });
  return [judge("resting-call", "bytes", samples, "share", { atMost: 0.25 })];
}

let serial = 0;
/** Text that no other has, and that is not made of pieces. */
function bundle(): string {
  return Buffer.alloc(BUNDLE_BYTES, `${serial++} `).toString("latin1");
}

/** A delivered call of which the journal, and not the heap, has the row. */
const COURSE = GOOD_COURSE.map((event) => {
  if (event.type === "payment_proved") return { ...event, proof: { ...event.proof, final: false } };
  return event.type === "bundle_sealed" ? { ...event, bundle: { id: event.bundle.id, body: bundle() } } : event;
});

function begin(): object {
  // As the timers keep what rests.
  const resting: (() => void)[] = [];
  const journal: Partial<Journal> = { holds: () => true, update: async () => undefined, listen: () => () => undefined };
  const runner = createRunner({
    journal: journal as Journal,
    perform: async (call) => COURSE[COURSE.length - goodCourseFrom(call).length],
    clock: {
      ...systemClock,
      after(_, run) {
        resting.push(run);
        return () => undefined;
      },
    },
    log: pino({ level: "silent" }),
    carrying: contextOfCalls(undefined),
  });
  for (let i = 0; i < CALLS; i++)
    void runner.start(aCall({ key: `key ${i}`, aliases: [], evidence: aLargeEvidence(`${i}`) }));
  return { runner, resting };
}

function bundles(): object {
  return Array.from({ length: CALLS }, bundle);
}

async function bytesOf(make: () => object): Promise<number> {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  collect();
  // What only finalizers hold is free after a second time.
  await new Promise((resolve) => setImmediate(resolve));
  collect();
  const before = process.memoryUsage().heapUsed;
  const kept = make();
  // Every loop has come to its rest by then: nothing in it waits for more than a turn.
  for (let i = 0; i < 100; i++) await new Promise((resolve) => setImmediate(resolve));
  collect();
  const bytes = process.memoryUsage().heapUsed - before;
  // Used after the measurement, so that it lives until then.
  if (Object.keys(kept).length === 0) throw new Error("nothing was made");
  return bytes;
}
