import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { bundleCommand } from "../build/release/bundle.ts";
import { type Effort, inTurns, judge, type Row, type Turn, timed } from "./measure.ts";
import { type Server, startBare, startNetworks, startPacked } from "./server.ts";

/** How long a process is left alone before its memory is read, in ms. */
const IDLE_MS = 1500;

/**
 * From the start of the process to the first 200 of /health, of the release archive's code beside bare Node with Hono and one
 * route; and the resident memory of both when nothing has been asked of them yet.
 */
export async function run(effort: Effort): Promise<Row[]> {
  await using networks = await startNetworks(1000);
  await using packed = await writeCommand();
  const memory: Turn[] = [];
  let resident = 0;
  const turns = await inTurns(
    effort,
    async () => {
      const [ms, mb] = await startOnce(() => startPacked(packed.folder, networks.settingsFile));
      resident = mb;
      return ms;
    },
    async () => {
      const [ms, mb] = await startOnce(() => startBare("bare-hono.ts"));
      memory.push({ ours: resident, yardstick: mb });
      return ms;
    },
  );
  return [
    judge("start", "ms", turns, "share", { atMost: 2.2 }),
    judge("start-rss", "MB", memory.slice(-effort.turns), "share", { atMost: 1.4 }),
  ];
}

/** The code of the release archive, in a folder of its own. */
async function writeCommand() {
  const folder = await mkdtemp(join(tmpdir(), "attestd-bench-"));
  const { files } = await bundleCommand();
  for (const [name, bytes] of files) await writeFile(join(folder, name), bytes);
  return { folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) };
}

async function startOnce(start: () => Promise<Server>): Promise<[ms: number, mb: number]> {
  let server: Server | undefined;
  const ms = await timed(async () => {
    server = await start();
    const response = await fetch(`${server.url}/health`);
    if (!response.ok) throw new Error(`/health answered ${response.status}`);
    await response.text();
  });
  if (!server) throw new Error("no server");
  await using running = server;
  await setTimeout(IDLE_MS);
  return [ms, await residentMegabytes(running.pid)];
}

async function residentMegabytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}
