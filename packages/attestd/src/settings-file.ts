import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { parseEnv } from "node:util";
import type { Environment } from "./environment.ts";
import { EXIT, Failure, fileTrouble } from "./failure.ts";
import { DEFAULT_FOLDER, sandboxFolder } from "./sandbox-folder.ts";

/** Where the settings of a service come from, beside the environment. */
export type SettingsOptions = {
  /** A file, NAME=value a line. */
  env?: string;
  /** Of a sandbox: the one in `./.attestd` where no file is named. */
  sandbox?: boolean;
};

export type Settings = Record<string, string | undefined>;

/**
 * The settings of a service: those of the environment, and from the file those which it does not give, in either form
 * (`NAME` and `NAME_FILE`).
 *
 * @throws Failure `usage` when the file cannot be read
 */
export async function readSettings(options: SettingsOptions, { variables }: Environment): Promise<Settings> {
  const path = options.env ?? (options.sandbox ? standingSettings() : undefined);
  if (path === undefined) return variables;
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    throw new Failure(EXIT.usage, `can't read the settings in ${path}`, [fileTrouble(error)], error);
  });
  const otherForm = (name: string) => (name.endsWith("_FILE") ? name.slice(0, -"_FILE".length) : `${name}_FILE`);
  const fromFile = Object.entries(parseEnv(text)).filter(([name]) => !variables[otherForm(name)]);
  return { ...Object.fromEntries(fromFile), ...variables };
}

function standingSettings(): string | undefined {
  const { settings } = sandboxFolder(DEFAULT_FOLDER);
  return existsSync(settings) ? settings : undefined;
}
