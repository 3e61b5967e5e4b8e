import { mkdtemp, rm } from "node:fs/promises";
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
import { type Effort, inTurns, judge, type Row, type Turn } from "./measure.ts";

const CALLERS = 64;
const CALLS_EACH = 20;

/**
 * Calls that are inserted and then moved on, by 64 callers at once: our journal, beside a file with the same tables and
 * the same durability (WAL, FULL), written on the event loop with a commit for each of the two. And the event loop's
 * delay meanwhile.
 */
export async function run(effort: Effort): Promise<Row[]> {
  const dir = await mkdtemp(join(tmpdir(), "attestd-bench-"));
  const journal = await openSqliteJournal(join(dir, "ours.sqlite"));
  const plain = openPlain(join(dir, "plain.sqlite"));
  const delays: Turn[] = [];
  let delay = 0;
  try {
    const turns = await inTurns(
      effort,
      async () => {
        const [rate, p99] = await withDelay(() => everyCaller((call) => ours(call)));
        delay = p99;
        return rate;
      },
      async () => {
        const [rate, p99] = await withDelay(() => everyCaller((call) => plain.write(call)));
        delays.push({ ours: delay, yardstick: p99 });
        return rate;
      },
    );
    return [
      judge("journal", "calls/s", turns, "share", { atLeast: 10 }),
      judge("journal-loop", "ms p99", delays.slice(-effort.turns), "share", { ours: 5 }),
    ];
  } finally {
    await journal.close();
    plain.close();
    await rm(dir, { recursive: true });
  }

  async function ours(call: ReturnType<typeof aCall>): Promise<void> {
    await journal.insert(call);
    await journal.update(reduce(call, { type: "settlement_begun" }));
  }
}

let made = 0;

/** @returns calls a second */
async function everyCaller(write: (call: ReturnType<typeof aCall>) => Promise<void>): Promise<number> {
  const start = performance.now();
  await Promise.all(
    Array.from({ length: CALLERS }, async () => {
      for (let i = 0; i < CALLS_EACH; i++) await write(aCall({ key: `bench/${made++}` }));
    }),
  );
  return (CALLERS * CALLS_EACH * 1000) / (performance.now() - start);
}

async function withDelay(work: () => Promise<number>): Promise<[rate: number, p99: number]> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const rate = await work();
  delay.disable();
  return [rate, delay.percentile(99) / 1e6];
}

/** The same rows, written by hand. */
function openPlain(path: string) {
  const db = new DatabaseSync(path);
  db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  migrate(db);
  const insert = db.prepare(
    "INSERT INTO calls (key, rail, payer, subject_hash, created_at, request, state, version, open, progress) VALUES (?, ?, ?, ?, ?, ?, ?, ?, TRUE, ?)",
  );
  const name = db.prepare("INSERT INTO names (name, key) VALUES (?, ?)");
  const update = db.prepare("UPDATE calls SET state = ?, version = ?, progress = ? WHERE key = ? AND version = ?");
  return {
    async write(call: ReturnType<typeof aCall>): Promise<void> {
      const { key, rail, payer, subjectHash, createdAt, state, version } = call;
      db.exec("BEGIN IMMEDIATE");
      insert.run(key, rail, payer, subjectHash, createdAt, requestOf(call), state, version, progressOf(call));
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
