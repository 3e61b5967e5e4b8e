import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { parseEnv } from "node:util";
import type { Environment } from "../environment.ts";
import { EXIT, type ExitCode, Failure, fileTrouble } from "../failure.ts";
import { DEFAULT_FOLDER, sandboxFolder } from "../sandbox-folder.ts";
import { aborted, stopSignal } from "../stop.ts";

export type ServeOptions = { sandbox?: boolean; env?: string };

type Settings = Record<string, string | undefined>;

/** What a service tells the process that started it, over the IPC channel. */
export type Ready = { ready: string };

/**
 * Runs the service until it is asked to stop, or until the process that started it (`attestd sandbox`) is gone.
 *
 * @throws Failure `usage` when a setting is wrong or the port is taken
 */
export async function serve(options: ServeOptions, environment: Environment): Promise<ExitCode> {
  const stop = stopSignal();
  const settings = { ...(await fileSettings(options, environment.variables)), ...environment.variables };
  const { startService } = await import("@attestd/service");
  const starting = startService(settings, { sandbox: options.sandbox ?? false });
  const service = await Promise.race([starting, aborted(stop)]).catch((error: unknown) => {
    throw startFailure(error, settings);
  });
  // Asked to stop before it was up: nothing has been sold, and the journal survives a process that just ends.
  if (!service) process.exit(EXIT.good);

  process.send?.({ ready: service.url } satisfies Ready);
  await aborted(stop);
  await service.close();
  process.disconnect?.();
  return EXIT.good;
}

/** Settings of the file, without those which the environment gives in their other form (`NAME` and `NAME_FILE`). */
async function fileSettings(options: ServeOptions, variables: Environment["variables"]): Promise<Settings> {
  const path = options.env ?? (options.sandbox ? standingSettings() : undefined);
  if (path === undefined) return {};
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    throw new Failure(EXIT.usage, `can't read the settings in ${path}`, [fileTrouble(error)], error);
  });
  const otherForm = (name: string) => (name.endsWith("_FILE") ? name.slice(0, -"_FILE".length) : `${name}_FILE`);
  return Object.fromEntries(Object.entries(parseEnv(text)).filter(([name]) => !variables[otherForm(name)]));
}

function standingSettings(): string | undefined {
  const { settings } = sandboxFolder(DEFAULT_FOLDER);
  return existsSync(settings) ? settings : undefined;
}

function startFailure(error: unknown, settings: Settings): Failure {
  const { name, code, message } = error as NodeJS.ErrnoException;
  if (code === "EADDRINUSE") return portTaken(settings.PORT ?? "", "PORT");
  if (name === "ConfigError") return new Failure(EXIT.usage, message, [], error);
  return new Failure(EXIT.unreachable, "the service did not start", [message], error);
}

/** @param setting what to change, as the reader would write it */
export function portTaken(port: string | number, setting: string): Failure {
  return new Failure(EXIT.usage, `port ${port} is in use`, [
    "Another program listens there.",
    `Choose another with ${setting}, or stop that program.`,
  ]);
}
