import type { OperatorOptions } from "@attestd/service/operator";
import type { Environment } from "./environment.ts";
import { operatorFailure } from "./operator-failure.ts";
import { readSettings, type Settings, type SettingsOptions } from "./settings-file.ts";

type Operations = typeof import("@attestd/service/operator");

/** What a command prints: `doing` while it runs; `undone` and then `interrupted` when it was interrupted. */
type Texts = { doing: string; undone: string; interrupted?: string };

/**
 * Runs an operator's command on the journal and the networks of the service's settings.
 *
 * @param command gets the service's operations, which are loaded only now, with the settings and options that all take
 * @throws Failure for every error of the command
 */
export async function operate<T>(
  options: SettingsOptions,
  environment: Environment,
  { doing, undone, interrupted }: Texts,
  command: (operations: Operations, settings: Settings, operator: OperatorOptions) => Promise<T>,
): Promise<T> {
  const signal = environment.stop();
  const settings = await readSettings(options, environment);
  using _working = environment.working(doing);
  try {
    const operations = await import("@attestd/service/operator");
    return await command(operations, settings, { sandbox: options.sandbox ?? false, signal });
  } catch (error) {
    throw operatorFailure(error, undone, signal, interrupted);
  }
}
