import { type ChildProcess, fork } from "node:child_process";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { CommitPoint } from "./commits.ts";
import type { Settings } from "./deployment.ts";
import type { News, Orders } from "./service.ts";
import type { Vitals } from "./vitals.ts";

const ENTRY = fileURLToPath(new URL("./service.ts", import.meta.url));
/** Compiled code, for all processes of all runs. */
const CACHE = join(tmpdir(), "attestd-test-cache");

/** A service that listens, in a process of its own. */
export type ServiceProcess = {
  url: string;
  /** Commits of calls that the process has reported: the last before a kill may be missing. */
  committed: string[];
  /** Resolves when it next reports a commit. */
  nextCommit(): Promise<void>;
  /** Sends SIGKILL. @returns resolves when it has ended */
  kill(): Promise<void>;
  /** Resolves when it has ended, with what ended it. */
  ended: Promise<string>;
};

/** Starts processes, only as many at a time as there are cores: a start is all work, and has a deadline of its own. */
export type Starter = (settings: Settings, options?: StartOptions) => Promise<ServiceProcess>;

export type StartOptions = {
  /** The commit at which it kills itself. */
  killAt?: CommitPoint;
  /** Called with the vitals of the process every `everyMs`. */
  watch?: { everyMs: number; onVitals: (vitals: Vitals) => void };
  /** Bound of the heap of each of its threads, in MiB; V8's own unless given. */
  heapMiB?: number;
};

/** Runs work when its turn comes. */
export type Turns = <T>(work: () => Promise<T>) => Promise<T>;

/** @param atATime how much work runs at a time; the rest waits in order */
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

/** How long work that fails is tried again. */
const MAX_TRYING_MS = 300_000;
/** A start takes a second, on a busy machine some ten. One that hangs must not block the others for ever. */
const START_DEADLINE_MS = 120_000;

/** Tries again what fails under load, as an operator does: starts a service again, runs an audit again. */
export async function persistently<T>(work: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + MAX_TRYING_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
  }
}

export function createStarter(turn: Turns): Starter {
  return (settings, options = {}) => persistently(() => turn(() => startProcess(settings, options)));
}

/**
 * Starts a service.
 *
 * @throws Error when it did not come to listen; it has ended then
 */
async function startProcess(settings: Settings, { killAt, watch, heapMiB }: StartOptions): Promise<ServiceProcess> {
  const child = fork(ENTRY, {
    env: { NODE_COMPILE_CACHE: CACHE },
    execArgv: heapMiB === undefined ? [] : [`--max-old-space-size=${heapMiB}`],
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  const complaints = collect(child);
  const listening = Promise.withResolvers<string>();
  const committed: string[] = [];
  let next = Promise.withResolvers<void>();
  child.on("message", (news: News) => {
    if ("listening" in news) listening.resolve(news.listening);
    else if ("failed" in news) listening.reject(new Error(news.failed));
    else if ("vitals" in news) watch?.onVitals(news.vitals);
    else {
      committed.push(news.committed);
      next.resolve();
      next = Promise.withResolvers();
    }
  });
  const ended = new Promise<string>((resolve) => {
    child.once("exit", (code, signal) => {
      resolve(String(signal ?? code));
      listening.reject(new Error(`the service ended before it listened: ${signal ?? code} ${complaints()}`));
    });
  });
  const orders: Orders = { settings, ...(killAt && { killAt }), ...(watch && { vitalsEveryMs: watch.everyMs }) };
  child.send(orders);
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
