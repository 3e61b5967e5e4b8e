import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { run } from "../../packages/attestd/src/program.ts";
import { environmentOf } from "../../packages/attestd/src/terminal/environment.ts";

/** Folder of compiled code, shared by all runs of all tests. */
const CACHE = join(tmpdir(), "attestd-test-cache");
const MAIN = fileURLToPath(new URL("../../packages/attestd/src/main.ts", import.meta.url));
/** A command of a release archive, to be tested in the place of the sources: `npm run test:dist`. */
export const PACKED = process.env.ATTESTD_PACKED;
/** Program and first arguments of the command. */
export const [PROGRAM, ...FIRST]: readonly [string, ...string[]] = PACKED ? [PACKED] : [process.execPath, MAIN];
/** The same for a shell. */
export const SHELL_COMMAND = [PROGRAM, ...FIRST].map((word) => `'${word}'`).join(" ");

export type Ended = { code: number | null; stdout: string; stderr: string };

export type CommandOptions = {
  cwd?: string;
  /** Added to an environment that has only PATH and a UTF-8 locale. */
  env?: Record<string, string>;
  /** Standard input. */
  input?: string;
};

export type Running = ChildProcessWithoutNullStreams & { ended: Promise<Ended> };

/** Starts `attestd` as its own process, with pipes for its streams. */
export function start(args: string[], { cwd, env, input }: CommandOptions = {}): Running {
  return watched(spawn(PROGRAM, [...FIRST, ...args], { cwd, env: variablesOf(cwd, env) }), input);
}

/** Starts a shell with one line. */
export function startShell(line: string, { cwd, env, input }: CommandOptions = {}): Running {
  return watched(spawn("sh", ["-c", line], { cwd, env: variablesOf(cwd, env) }), input);
}

function watched(child: ChildProcessWithoutNullStreams, input: string | undefined): Running {
  child.stdin.on("error", () => undefined).end(input);
  const code = new Promise<number | null>((resolve) => child.on("close", resolve));
  const ended = Promise.all([code, text(child.stdout), text(child.stderr)]).then(([code, stdout, stderr]) => ({
    code,
    stdout,
    stderr,
  }));
  return Object.assign(child, { ended });
}

/** The environment of a command in a test. */
export function variablesOf(cwd: string | undefined, env: CommandOptions["env"]): Record<string, string> {
  const { PATH = "" } = process.env;
  return { PATH, HOME: cwd ?? tmpdir(), XDG_CACHE_HOME: CACHE, LANG: "C.UTF-8", ...env };
}

/** Runs `attestd` to its end, as its own process. */
export function attestdProcess(args: string[], options?: CommandOptions): Promise<Ended> {
  return start(args, options).ended;
}

export type InProcess = CommandOptions & {
  stop?: AbortSignal;
  screen?: { columns: number };
  onError?: (text: string) => void;
};

/** Commands run one after the other, because the current folder belongs to the whole process. */
let last: Promise<unknown> = Promise.resolve();

/**
 * Runs `attestd` to its end in this process: all but the few lines of `main.ts`. A packed command has a process of its own,
 * unless a test must hold its streams.
 *
 * @param options.stop stops the command when it is aborted
 * @param options.onError receives what it writes to standard error
 * @param options.screen makes its streams terminals
 */
export function attestd(
  args: string[],
  { cwd, env, input = "", stop, screen, onError }: InProcess = {},
): Promise<Ended> {
  if (PACKED && !stop && !screen && !onError)
    return attestdProcess(args, {
      cwd: cwd ?? ".",
      input,
      env: { ...(cwd && { XDG_STATE_HOME: join(cwd, "state") }), ...env },
    });
  const ended = last.then(async () => {
    const before = process.cwd();
    const written = { stdout: "", stderr: "" };
    const stream = (name: keyof typeof written) =>
      Object.assign(
        new Writable({
          write(chunk, _encoding, done) {
            written[name] += chunk;
            if (name === "stderr") onError?.(String(chunk));
            done();
          },
        }),
        screen && { isTTY: true, ...screen },
      );
    const streams = {
      stdin: Object.assign(Readable.from([input]), screen && { isTTY: true }),
      stdout: stream("stdout"),
      stderr: stream("stderr"),
    };
    const variables = { ...variablesOf(cwd, env), ...(cwd && { XDG_STATE_HOME: join(cwd, "state") }), ...env };
    process.chdir(cwd ?? before);
    try {
      const code = await run(
        args,
        environmentOf(variables, streams, () => stop ?? new AbortController().signal),
      );
      return { code, ...written };
    } finally {
      process.chdir(before);
    }
  });
  last = ended.catch(() => undefined);
  return ended;
}
