import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { startNetworks } from "../../bench/server.ts";
import { readSettingsFile } from "../../packages/service/src/config/settings-file.ts";
import { merged, settingsFileOf } from "../../packages/service/test/settings.ts";
import { ARCHIVES, run } from "./files.ts";

/**
 * What a service takes until it listens, and resident bytes when it has been idle for a while. Of several starts the fastest, because other
 * programs only add to it, and the median of the CPU times.
 */
type Takes = { ms: number; cpuMs: number; rss: number };

const TURNS = 10;
/** How often it may be too much: on a busy machine one wait can make all the difference. */
const MEASURINGS = 3;
const IDLE_MS = 10_000;
/** The most that the packed service may take of what the sources take. */
const MOST: Takes = { ms: 0.7, cpuMs: 0.8, rss: 0.9 };
const SOURCES = fileURLToPath(new URL("../../packages/attestd/src/main.ts", import.meta.url));
/** Of a second: what /proc counts CPU time in. */
const TICK_MS = 1000 / Number(run("getconf", ["CLK_TCK"]));

/**
 * What the packed service takes, and `attestd serve` of the sources, in turns, both with compiled code from the start before.
 * @throws Error when the former is more than it may be, however often it is measured
 */
export async function startFigures(unpacked: string): Promise<{ packed: Takes; sources: Takes }> {
  await using networks = await startNetworks(1000);
  const { tables } = readSettingsFile(networks.settingsFile, {});
  const file = settingsFileOf(merged(tables, { port: 0, log_level: "info" }));
  const serve = ["serve", "--sandbox", "--settings", file];
  const programs = {
    packed: [join(unpacked, ARCHIVES.top, "bin/attestd"), ...serve],
    sources: [process.execPath, SOURCES, ...serve],
  };
  for (let left = MEASURINGS - 1; ; left--) {
    const figures = await measured(programs);
    const over = (["ms", "cpuMs", "rss"] as const).filter((of) => figures.packed[of] > MOST[of] * figures.sources[of]);
    if (over.length === 0) return figures;
    if (left === 0) throw new Error(`too much ${over.join(" and ")} each time: ${JSON.stringify(figures)}`);
  }
}

type Programs = { packed: readonly string[]; sources: readonly string[] };

async function measured(programs: Programs): Promise<{ packed: Takes; sources: Takes }> {
  const starts = { packed: [] as Takes[], sources: [] as Takes[] };
  // The first start of each compiles; the last is left idle.
  for (let turn = 0; turn <= TURNS; turn++)
    for (const name of ["packed", "sources"] as const)
      starts[name].push(await started(programs[name], turn === TURNS ? IDLE_MS : 0));
  return { packed: figuresOf(starts.packed), sources: figuresOf(starts.sources) };
}

function figuresOf(starts: readonly Takes[]): Takes {
  const sorted = (of: "ms" | "cpuMs") => {
    const figures = starts.slice(1).map((start) => start[of]);
    return figures.sort((a, b) => a - b);
  };
  const [ms] = sorted("ms") as [number];
  return { ms, cpuMs: sorted("cpuMs")[TURNS / 2] as number, rss: (starts.at(-1) as Takes).rss };
}

async function started([program = "", ...args]: readonly string[], idleMs: number): Promise<Takes> {
  const before = performance.now();
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "exit");
  let log = "";
  for await (const chunk of child.stdout) {
    log += chunk;
    if (log.includes('"listening"')) break;
  }
  const ms = performance.now() - before;
  if (!log.includes('"listening"')) throw new Error(`${program} did not start`);
  const cpuMs = cpuTime(child.pid);
  await pause(idleMs);
  const rss = 1024 * Number(/^VmRSS:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1]);
  child.kill("SIGTERM");
  await ended;
  return { ms, cpuMs, rss };
}

/** Of a process and its threads, in ms, by proc_pid_stat(5). */
function cpuTime(pid: number | undefined): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The name, in brackets, may have blanks.
  const [user, system] = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .slice(11, 13)
    .map(Number);
  return TICK_MS * ((user as number) + (system as number));
}
