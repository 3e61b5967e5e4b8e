import { hasCode } from "@attestd/service/errors";
import type { Environment } from "../environment.ts";
import { EXIT, type ExitCode, Failure } from "../failure.ts";
import { readSettings, type Settings } from "../settings-file.ts";
import { aborted } from "../stop.ts";
import { compileTicks } from "../ticks.ts";

export type ServeOptions = { sandbox?: boolean; env?: string };

/** The message of a started service to its parent process, over the IPC channel. */
export type Ready = { ready: string };

/**
 * Runs the service until it is asked to stop, or until its parent process (`attestd sandbox`) ends.
 *
 * @throws Failure `usage` when a setting is wrong or the port is in use
 */
export async function serve(options: ServeOptions, environment: Environment): Promise<ExitCode> {
  const stop = environment.stop();
  const settings = await readSettings(options, environment);
  await compileTicks();
  const [{ startService }, { readPage }] = await Promise.all([
    import("@attestd/service"),
    import("@attestd/web/assets"),
  ]);
  const starting = startService(settings, { sandbox: options.sandbox ?? false, page: await readPage() });
  const service = await Promise.race([starting, aborted(stop)]).catch((error: unknown) => {
    throw startFailure(error, settings);
  });
  // Asked to stop before it was ready: nothing has been sold, and the journal survives a process that just exits.
  if (!service) process.exit(EXIT.good);

  process.send?.({ ready: service.url } satisfies Ready);
  await aborted(stop);
  await service.close();
  if (process.connected) process.disconnect?.();
  return EXIT.good;
}

function startFailure(error: unknown, settings: Settings): Failure {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "EADDRINUSE") return portTaken(settings.PORT ?? "", "PORT");
  if (hasCode(error, "config_invalid")) return new Failure(EXIT.usage, message, [], error);
  return new Failure(EXIT.unreachable, "the service did not start", [message], error);
}

/** @param setting to change */
export function portTaken(port: string | number, setting: string): Failure {
  return new Failure(EXIT.usage, `port ${port} is in use`, [
    "Another program listens there.",
    `Choose another with ${setting}, or stop that program.`,
  ]);
}
