import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import { reduce } from "../packages/service/src/calls/machine.ts";
import { progressOf, requestOf } from "../packages/service/src/journal/record.ts";
import { openSqliteJournal } from "../packages/service/src/journal/sqlite/journal.ts";
import { migrate } from "../packages/service/src/journal/sqlite/schema.ts";
import { aCall } from "../packages/service/test/fakes/calls.ts";
import { type Effort, inTurns, judge, percentile, type Row, timed } from "./measure.ts";

const CALLERS = 64;
const CALLS_EACH = 20;
const COMMITS = 200;
/** Bytes of a write that is synchronized by itself: a page of the journal. */
const PAGE = Buffer.alloc(4096, 1);

type Call = ReturnType<typeof aCall>;

/**
 * Calls that are inserted and then moved on, by 64 callers at once: the CPU time of the journal's thread, beside a file with the
 * same tables and the same durability (WAL, FULL), written on the event loop with a commit for each of the two. The rate of
 * both, and the event loop's delay meanwhile. And the time of one commit that nobody else shares, beside one fsync.
 */
export async function run(effort: Effort): Promise<Row[]> {
  const dir = await mkdtemp(join(tmpdir(), "attestd-bench-"));
  const journal = await openSqliteJournal(join(dir, "ours.sqlite"));
  const plain = openPlain(join(dir, "plain.sqlite"));
  const write = async (call: Call) => {
    await journal.insert(call);
    await journal.update(reduce(call, { type: "settlement_begun" }));
  };
  const [own, theirs]: [Measured[], Measured[]] = [[], []];
  const measured = (of: Measured[], one: (call: Call) => Promise<void>, cpu: () => number) => async () => {
    const all = await everyCaller(one, cpu);
    of.push(all);
    return all.rate;
  };
  try {
    const rates = await inTurns(effort, measured(own, write, otherThreads), measured(theirs, plain.write, thisThread));
    const both = (figure: keyof Measured) =>
      own
        .map((ours, turn) => ({ ours: ours[figure], yardstick: theirs[turn]?.[figure] ?? Number.NaN }))
        .slice(-effort.turns);
    const commits = await inTurns(
      effort,
      () => slowest(() => journal.insert(nextCall())),
      () => synchronized(join(dir, "page")),
    );
    return [
      judge("journal", "µs CPU", both("cpu"), "share", { ours: 30 }),
      judge("journal-rate", "calls/s", rates, "share", { atLeast: 4 }),
      judge("journal-loop", "ms p99", both("delay"), "share", { ours: 5 }),
      judge("journal-commit", "ms p99", commits, "share", { above: 2 }),
    ];
  } finally {
    await journal.close();
    plain.close();
    await rm(dir, { recursive: true });
  }
}

let made = 0;

function nextCall(): Call {
  return aCall({ key: `bench/${made++}` });
}

/** Calls a second, µs of CPU time for one, and the event loop's delay, 99th percentile in ms. */
type Measured = { rate: number; cpu: number; delay: number };

/** @param cpu the time of the threads that write, in µs */
async function everyCaller(write: (call: Call) => Promise<void>, cpu: () => number): Promise<Measured> {
  const calls = CALLERS * CALLS_EACH;
  const delay = monitorEventLoopDelay({ resolution: 1 });
  const before = cpu();
  delay.enable();
  const ms = await timed(() =>
    Promise.all(
      Array.from({ length: CALLERS }, async () => {
        for (let i = 0; i < CALLS_EACH; i++) await write(nextCall());
      }),
    ),
  );
  delay.disable();
  return { rate: (calls * 1000) / ms, cpu: (cpu() - before) / calls, delay: delay.percentile(99) / 1e6 };
}

function thisThread(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}

/** Of all threads but that of the event loop. */
function otherThreads(): number {
  const { user, system } = process.cpuUsage();
  return user + system - thisThread();
}

/** @returns the 99th percentile in ms of some work that is done again and again */
async function slowest(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < COMMITS; i++) times.push(await timed(work));
  return percentile(times, 0.99);
}

/** A page that is written and synchronized by itself. */
async function synchronized(path: string): Promise<number> {
  await using file = await open(path, "w");
  return await slowest(async () => {
    await file.write(PAGE);
    await file.datasync();
  });
}

/** The same rows, written by hand. */
function openPlain(path: string) {
  const db = new DatabaseSync(path);
  db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  migrate(db);
  const insert = db.prepare(
    "INSERT INTO calls (key, rail, payer, subject_hash, created_at, amount, request, state, version, open, progress) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, TRUE, ?)",
  );
  const name = db.prepare("INSERT INTO names (name, key) VALUES (?, ?)");
  const update = db.prepare("UPDATE calls SET state = ?, version = ?, progress = ? WHERE key = ? AND version = ?");
  return {
    async write(call: Call): Promise<void> {
      const { key, rail, payer, subjectHash, createdAt, state, version, requirement } = call;
      const fixed = [key, rail, payer, subjectHash, createdAt, requirement.amount, requestOf(call)];
      db.exec("BEGIN IMMEDIATE");
      insert.run(...fixed, state, version, progressOf(call));
      name.run(key, key);
      db.exec("COMMIT");
      await setImmediate();
      const moved = reduce(call, { type: "settlement_begun" });
      update.run(moved.state, moved.version, progressOf(moved), key, version);
      await setImmediate();
    },
    close: () => db.close(),
  };
}
