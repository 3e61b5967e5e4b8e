import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseEnv } from "node:util";
import { startNetworks } from "../../bench/server.ts";
import { ARCHIVES } from "./files.ts";

const TURNS = 10;
const SOURCES = fileURLToPath(new URL("../../packages/attestd/src/main.ts", import.meta.url));

/**
 * The median times from the start of a process to its `listening`, in turns: the packed service's, and that of `attestd serve` of the
 * sources, both with compiled code from the start before. @throws Error when the former is more than 0.7 of the latter
 */
export async function startTimes(unpacked: string): Promise<string> {
  await using networks = await startNetworks(1000);
  const env = join(networks.dir, "start.env");
  const settings = { ...parseEnv(readFileSync(networks.settingsFile, "utf8")), PORT: "0", LOG_LEVEL: "info" };
  writeFileSync(
    env,
    Object.entries(settings)
      .map(([name, value]) => `${name}="${value}"\n`)
      .join(""),
  );
  const packed: number[] = [];
  const sources: number[] = [];
  const command = join(unpacked, ARCHIVES.top, "bin/attestd");
  for (let turn = 0; turn <= TURNS; turn++) {
    packed.push(await listening(command, ["serve", "--sandbox", "--env", env]));
    sources.push(await listening(process.execPath, [SOURCES, "serve", "--sandbox", "--env", env]));
  }
  // The first start of each compiled.
  const [ours, theirs] = [packed, sources].map((times) => times.slice(1).sort((a, b) => a - b)[TURNS / 2]) as [
    number,
    number,
  ];
  const figure = `${Math.round(ours)} ms of ${Math.round(theirs)} ms, ${(ours / theirs).toFixed(2)}`;
  if (ours > 0.7 * theirs) throw new Error(figure);
  return figure;
}

async function listening(program: string, args: readonly string[]): Promise<number> {
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
  child.kill("SIGTERM");
  await ended;
  return ms;
}
