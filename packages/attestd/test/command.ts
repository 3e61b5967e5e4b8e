import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

/** Compiled code, for all runs of all tests. */
const CACHE = join(tmpdir(), "attestd-test-cache");
const MAIN = fileURLToPath(new URL("../src/main.ts", import.meta.url));

export type Ended = { code: number | null; stdout: string; stderr: string };

export type CommandOptions = {
  cwd?: string;
  /** Over an environment that has only PATH and a UTF-8 locale. */
  env?: Record<string, string>;
  /** What it reads from standard input. */
  input?: string;
};

/** A running `attestd`, as a process of its own with pipes for its streams. */
export function start(
  args: string[],
  { cwd, env, input }: CommandOptions = {},
): ChildProcess & { ended: Promise<Ended> } {
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd,
    env: { PATH: process.env.PATH, HOME: cwd, XDG_CACHE_HOME: CACHE, LANG: "C.UTF-8", ...env },
  });
  child.stdin.on("error", () => undefined).end(input);
  const code = new Promise<number | null>((resolve) => child.on("close", resolve));
  const ended = Promise.all([code, text(child.stdout), text(child.stderr)]).then(([code, stdout, stderr]) => ({
    code,
    stdout,
    stderr,
  }));
  return Object.assign(child, { ended });
}

/** Runs `attestd` to its end. */
export function attestd(args: string[], options?: CommandOptions): Promise<Ended> {
  return start(args, options).ended;
}

/** A folder that is gone afterwards. */
export async function temporaryFolder(): Promise<{ path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), "attestd-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}
