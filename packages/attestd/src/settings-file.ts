import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { parseEnv } from "node:util";
import type { Environment } from "./environment.ts";
import { EXIT, failsFor } from "./failure.ts";
import { DEFAULT_FOLDER, sandboxFolder } from "./sandbox-folder.ts";

/** Sources of a service's settings, in addition to the environment. */
export type SettingsOptions = {
  /** A file, NAME=value a line. */
  env?: string;
  /** Settings of a sandbox: without `env`, those in `./.attestd`. */
  sandbox?: boolean;
};

export type Settings = Record<string, string | undefined>;

/**
 * The settings of a service: those of the environment, and those of the file that the environment does not set in either
 * form (`NAME` or `NAME_FILE`).
 *
 * @throws Failure `usage` when the file cannot be read
 */
export async function readSettings(options: SettingsOptions, { variables }: Environment): Promise<Settings> {
  const path = options.env ?? (options.sandbox ? standingSettings() : undefined);
  if (path === undefined) return variables;
  const text = await readFile(path, "utf8").catch(failsFor(EXIT.usage, `read the settings in ${path}`));
  const otherForm = (name: string) => (name.endsWith("_FILE") ? name.slice(0, -"_FILE".length) : `${name}_FILE`);
  const fromFile = Object.entries(parseEnv(text)).filter(([name]) => !variables[otherForm(name)]);
  return { ...Object.fromEntries(fromFile), ...variables };
}

function standingSettings(): string | undefined {
  const { settings } = sandboxFolder(DEFAULT_FOLDER);
  return existsSync(settings) ? settings : undefined;
}
