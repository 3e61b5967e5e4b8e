import { aborted } from "node:util";
import { EXIT, type ExitCode, Failure, portTaken } from "../../failure.ts";
import { examinedFile, readSettings, type Settings } from "../../operator/settings.ts";
import type { SettingsOptions } from "../../options.ts";
import type { Environment } from "../../terminal/environment.ts";
import { readableLog } from "../../terminal/log-text.ts";
import { startPatiently } from "./startup.ts";

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
  const settings = await readSettings(options, environment);
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
  const service = await Promise.race([starting, aborted(stop, stop)]).catch((error: unknown) => {
    throw startFailure(error, settings);
  });
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
    const file = await examinedFile(options, environment);
    const examined = examine(settings, { sandbox: options.sandbox ?? false, signal, file, isStarting: true });
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

function startFailure(error: unknown, settings: Settings): Failure {
  if (error instanceof Failure) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  // An earlier process may be about to free the port.
  if (code === "EADDRINUSE") return portTaken(EXIT.unreachable, settings.PORT ?? "", "PORT");
  return new Failure(EXIT.unreachable, "the service did not start", [message], error);
}
