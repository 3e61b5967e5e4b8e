import { setTimeout as pause } from "node:timers/promises";
import { aborted } from "node:util";
import type { RunningService } from "@attestd/service";
import { hasCode } from "@attestd/service/errors";
import type { SubjectFinding } from "@attestd/service/operator";
import type { Settings } from "@attestd/service/settings";
import { EXIT, type ExitCode, Failure, portTaken } from "../../failure.ts";
import { readSettings, settingsFailure } from "../../operator/settings.ts";
import type { SettingsOptions } from "../../options.ts";
import type { Environment } from "../../terminal/environment.ts";
import { readableLog } from "../../terminal/terminal.ts";

/** The message that a started service sends to its parent process over the IPC channel. */
export type Ready = { ready: string };

type ServeOptions = SettingsOptions & { wait: number };

/** V8 compiles a function after a few dozen calls; a thousand ticks take a millisecond. */
const TICKS = 1_000;

/**
 * Runs the service until it is asked to stop, or until its parent process (`attestd sandbox`) ends.
 *
 * @throws Failure `usage` when a setting is wrong, `unreachable` when an upstream does not answer or the port is in use
 */
export async function runService(options: ServeOptions, environment: Environment): Promise<ExitCode> {
  const stop = environment.stop();
  const settings = readSettings(options, environment);
  await compileTicks();
  const [{ startService }, { readPage }] = await Promise.all([
    import("@attestd/service"),
    import("@attestd/web/assets"),
  ]);
  const { sandbox = false } = options;
  const page = await readPage();
  if (!page)
    environment.err.line("attestd: the page for people is not built, so it is not served. Build it: npm run prepare.");
  const log = await readableLog(environment.out);
  const onAway = (sentence: string) => environment.err.line(`attestd: waiting for an upstream. ${sentence}`);
  const patience = { settings, sandbox, waitMs: 1000 * options.wait, onAway, signal: stop };
  const starting = startPatiently(() => startService(settings, { sandbox, page, log }), patience);
  const service = await Promise.race([starting, aborted(stop, stop)]);
  if (service instanceof Failure) throw service;
  // It was asked to stop before it was ready: nothing has been sold, and the journal survives a process that just exits.
  if (!service) process.exit(EXIT.good);

  process.send?.({ ready: service.url } satisfies Ready);
  // With a parent, `attestd sandbox`, every upstream is the parent's own.
  const showing = process.send ? undefined : showFindings(settings, options, environment, stop);
  await aborted(stop, stop);
  await service.close();
  await showing;
  return EXIT.good;
}

/**
 * Makes the checks of `attestd doctor` while the service runs, and prints warnings and faults: what did not keep it from starting
 * may keep it from selling. Nothing waits for these checks.
 */
async function showFindings(
  settings: Settings,
  options: ServeOptions,
  environment: Environment,
  signal: AbortSignal,
): Promise<void> {
  const { err } = environment;
  try {
    const { examine } = await import("@attestd/service/operator");
    const examined = examine(settings, { sandbox: options.sandbox ?? false, signal, isStarting: true });
    for await (const { mark, message } of examined) {
      // A service that is stopping looks broken.
      if (signal.aborted) return;
      if (mark !== "ok") err.marked(mark, message);
    }
  } catch (error) {
    if (!signal.aborted) err.line(`attestd: not everything was examined: ${(error as Error).message}`);
  }
}

/**
 * Makes V8 compile `process.nextTick` before the service's modules are loaded. Node makes four ticks for every HTTP request;
 * if V8 compiles them later, their objects are created in 0.9 µs instead of 0.15, a fifth of the time of a short answer
 * (`npm run bench -- documents`).
 */
function compileTicks(): Promise<void> {
  return new Promise((resolve) => {
    let left = TICKS;
    const tick = () => {
      left -= 1;
      if (left === 0) resolve();
      else process.nextTick(tick);
    };
    tick();
  });
}

/** The port, and what names it. */
function portOf({ tables, variables }: Settings): [port: string, setting: string] {
  return variables.PORT ? [variables.PORT, "PORT"] : [String(tables.port ?? ""), "port in the settings"];
}

type StartupOptions = {
  settings: Settings;
  sandbox: boolean;
  /** How long to wait for upstreams that do not answer, in ms. */
  waitMs: number;
  /** Called once for each upstream that does not answer, with a sentence. */
  onAway(sentence: string): void;
  signal: AbortSignal;
};

/** After this time of a start, in ms, the upstreams that it may be waiting for are named. */
const QUIET_MS = 4_000;
const RETRY_MS = 2_000;

/**
 * Starts the service, and tries again while upstreams do not answer, for as long as the options say. The checks of
 * `attestd doctor` find what keeps it from starting, so that all faults are named at once.
 *
 * An init system restarts a service that ends as `unreachable`, but not one that ends as `usage`. So while an upstream does not
 * answer, other faults do not end the start: they may not be its cause.
 *
 * @returns the service, or a Failure: `usage` with everything that is wrong; `unreachable` when upstreams still do not answer, or
 *   the port is in use
 */
async function startPatiently(
  start: () => Promise<RunningService>,
  options: StartupOptions,
): Promise<RunningService | Failure> {
  const { settings, waitMs, signal } = options;
  const ends = performance.now() + waitMs;
  const named = new Set<string>();
  const nameAway = (faults: readonly SubjectFinding[]) => {
    for (const { message } of faults.filter(({ isAway }) => isAway)) {
      if (!named.has(message)) options.onAway(message);
      named.add(message);
    }
  };
  for (;;) {
    const slow = setTimeout(() => void faultsOf(options).then(nameAway), QUIET_MS);
    try {
      return await start();
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      const failure = (...why: string[]) => new Failure(EXIT.unreachable, "the service did not start", why, error);
      if (signal.aborted) return failure(message);
      // An earlier process may be about to free the port: an init system tries again.
      if (code === "EADDRINUSE") return portTaken(EXIT.unreachable, ...portOf(settings));
      const faults = await faultsOf(options);
      const lasting = faults.filter(({ isAway }) => !isAway).map(({ message }) => message);
      const isInvalid = hasCode(error, "config_invalid");
      if (isInvalid) lasting.unshift(...missingFrom(lasting, error.details.faults));
      const mayPass = !isInvalid && faults.some(({ isAway }) => isAway);
      if (lasting.length > 0 && !mayPass) return settingsFailure(lasting, error);
      const reasons: SubjectFinding[] =
        faults.length > 0 ? faults : [{ subject: "start", mark: "fail", message, isAway: true }];
      if (performance.now() >= ends) return failure(...reasons.map((reason) => reason.message));
      nameAway(reasons);
    } finally {
      clearTimeout(slow);
    }
    await pause(RETRY_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** Finds what the service needs and does not have. If a check fails itself, there are no findings: the error of the start counts. */
async function faultsOf({ settings, sandbox, signal }: StartupOptions): Promise<SubjectFinding[]> {
  const { examine } = await import("@attestd/service/operator");
  try {
    const findings = await Array.fromAsync(examine(settings, { sandbox, signal, isStarting: true }));
    return findings.filter(({ mark }) => mark === "fail");
  } catch {
    return [];
  }
}

/** The faults that no check has named already, perhaps in a longer sentence. */
function missingFrom(sentences: readonly string[], faults: readonly string[]): string[] {
  return faults.filter((fault) => !sentences.some((sentence) => sentence.startsWith(fault.replace(/\.$/, ""))));
}
