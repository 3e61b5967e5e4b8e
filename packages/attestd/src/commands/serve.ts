import { aborted } from "node:util";
import { hasCode } from "@attestd/service/errors";
import type { Environment } from "../environment.ts";
import { EXIT, type ExitCode, Failure } from "../failure.ts";
import { readSettings, type Settings, type SettingsOptions, settingsFailure } from "../settings-file.ts";

/** The message of a started service to its parent process, over the IPC channel. */
export type Ready = { ready: string };

/** V8 compiles a function after a few dozen calls; a thousand ticks take a millisecond. */
const TICKS = 1_000;

/**
 * Runs the service until it is asked to stop, or until its parent process (`attestd sandbox`) ends.
 *
 * @throws Failure `usage` when a setting is wrong or the port is in use
 */
export async function serve(options: SettingsOptions, environment: Environment): Promise<ExitCode> {
  const stop = environment.stop();
  const settings = await readSettings(options, environment);
  await compileTicks();
  const [{ startService }, { readPage }] = await Promise.all([
    import("@attestd/service"),
    import("@attestd/web/assets"),
  ]);
  const starting = startService(settings, { sandbox: options.sandbox ?? false, page: await readPage() });
  const service = await Promise.race([starting, aborted(stop, stop)]).catch((error: unknown) => {
    throw startFailure(error, settings);
  });
  // Asked to stop before it was ready: nothing has been sold, and the journal survives a process that just exits.
  if (!service) process.exit(EXIT.good);

  process.send?.({ ready: service.url } satisfies Ready);
  await aborted(stop, stop);
  await service.close();
  if (process.connected) process.disconnect?.();
  return EXIT.good;
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
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "EADDRINUSE") return portTaken(settings.PORT ?? "", "PORT");
  if (hasCode(error, "config_invalid")) return settingsFailure(error);
  return new Failure(EXIT.unreachable, "the service did not start", [message], error);
}

/** @param setting to change */
export function portTaken(port: string | number, setting: string): Failure {
  return new Failure(EXIT.usage, `port ${port} is in use`, [
    "Another program listens there.",
    `Choose another with ${setting}, or stop that program.`,
  ]);
}
