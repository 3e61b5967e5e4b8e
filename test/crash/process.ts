import { type ChildProcess, fork } from "node:child_process";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Settings } from "../../packages/service/test/settings.ts";
import type { CommitPoint } from "./commits.ts";
import type { ServiceMessage, StartMessage } from "./service.ts";
import type { Vitals } from "./vitals.ts";

const ENTRY = fileURLToPath(new URL("./service.ts", import.meta.url));
/** Compiled code, for all processes of all runs. */
const CACHE = join(tmpdir(), "attestd-test-cache");

/** A running service in a child process. */
export type ServiceProcess = {
  url: string;
  /** Commits of calls that the process has reported; the last before a kill may be missing. */
  committed: string[];
  /** Resolves when it next reports a commit. */
  nextCommit(): Promise<void>;
  /** Sends SIGKILL. Resolves when the process has ended. */
  kill(): Promise<void>;
  /** Resolves with the signal or exit code when the process has ended. */
  ended: Promise<string>;
};

/** Starts processes, at most one per core at a time: a start keeps a core busy and has a deadline. */
export type Starter = (settings: Settings, options?: StartOptions) => Promise<ServiceProcess>;

export type StartOptions = {
  /** The commit at which it kills itself. */
  killAt?: CommitPoint;
  /** Called with the vitals of the process every `everyMs`. */
  watch?: { everyMs: number; onVitals: (vitals: Vitals) => void };
  /** Called with what it writes to its log. */
  onLog?: (text: string) => void;
  /** Limit of the heap of each thread, in MiB; V8's default unless given. */
  heapMiB?: number;
  /** Variables of its environment that are no settings. */
  env?: Readonly<Record<string, string>>;
};

/** Runs work, a limited number at a time; the rest waits in order. */
export type Turns = <T>(work: () => Promise<T>) => Promise<T>;

/** @param atATime limit; the number of cores unless given */
export function createTurns(atATime = availableParallelism()): Turns {
  const waiting: (() => void)[] = [];
  let free = atATime;
  return async (work) => {
    if (free === 0) await new Promise<void>((resolve) => waiting.push(resolve));
    else free -= 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free += 1;
    }
  };
}

/** Time limit of all attempts. */
const MAX_RETRY_MS = 300_000;
/** A start takes one second, on a busy machine ten. A start that hangs must not block the others. */
const START_DEADLINE_MS = 120_000;

/** Repeats work that can fail under load, as an operator would: the start of a service, an audit. */
export async function retry<T>(work: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + MAX_RETRY_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
  }
}

export function createStarter(turn: Turns): Starter {
  return (settings, options = {}) => retry(() => turn(() => startProcess(settings, options)));
}

/**
 * Starts a service.
 *
 * @throws Error when it does not listen in time; the process has ended then
 */
async function startProcess(
  settings: Settings,
  { killAt, watch, onLog, heapMiB, env }: StartOptions,
): Promise<ServiceProcess> {
  const child = fork(ENTRY, {
    env: { NODE_COMPILE_CACHE: CACHE, ...env },
    execArgv: heapMiB === undefined ? [] : [`--max-old-space-size=${heapMiB}`],
    stdio: ["ignore", onLog ? "pipe" : "ignore", "pipe", "ipc"],
  });
  const errorOutput = collect(child);
  if (onLog) child.stdout?.setEncoding("utf8").on("data", onLog);
  const listening = Promise.withResolvers<string>();
  const committed: string[] = [];
  let next = Promise.withResolvers<void>();
  child.on("message", (message: ServiceMessage) => {
    if ("listening" in message) listening.resolve(message.listening);
    else if ("failed" in message) listening.reject(new Error(message.failed));
    else if ("vitals" in message) watch?.onVitals(message.vitals);
    else {
      committed.push(message.committed);
      next.resolve();
      next = Promise.withResolvers();
    }
  });
  const ended = new Promise<string>((resolve) => {
    child.once("exit", (code, signal) => {
      resolve(String(signal ?? code));
      listening.reject(new Error(`the service ended before it listened: ${signal ?? code} ${errorOutput()}`));
    });
  });
  const message: StartMessage = { settings, ...(killAt && { killAt }), ...(watch && { vitalsEveryMs: watch.everyMs }) };
  child.send(message);
  const kill = async () => {
    child.kill("SIGKILL");
    await ended;
  };
  const late = () => listening.reject(new Error(`the service did not listen in ${START_DEADLINE_MS / 1000} s`));
  const deadline = setTimeout(late, START_DEADLINE_MS);
  try {
    return { url: await listening.promise, committed, nextCommit: () => next.promise, kill, ended };
  } catch (error) {
    await kill();
    throw error;
  } finally {
    clearTimeout(deadline);
  }
}

function collect({ stderr }: ChildProcess): () => string {
  let text = "";
  stderr?.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  return () => text;
}
