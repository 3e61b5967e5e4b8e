import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { hasCode } from "@attestd/service/errors";
import { readSettingsFile, type Settings, type Table } from "@attestd/service/settings";
import { EXIT, Failure } from "../failure.ts";
import type { SettingsOptions } from "../options.ts";
import type { Environment } from "../terminal/environment.ts";
import { DEFAULT_FOLDER, sandboxFolder } from "../trust/sandbox-folder.ts";

/** The file of settings where no option names one. */
const DEFAULT_FILE = "attestd.toml";

/** Reads the file with the settings of a service: the named one, the sandbox's or attestd.toml. @throws Failure `usage` */
export function readSettings({ settings: named, sandbox }: SettingsOptions, { variables }: Environment): Settings {
  const ofSandbox = sandboxFolder(DEFAULT_FOLDER).settings;
  const path = named ?? (sandbox && existsSync(ofSandbox) ? ofSandbox : DEFAULT_FILE);
  const next = named === undefined ? ["Or name it: --settings FILE"] : [];
  return readFile(path, variables, named === undefined, next);
}

/**
 * Reads the table `[attestor]` of a file, for the next key. Its references do not depend on the file's folder any more.
 * @throws Failure `usage`
 */
export function attestorTable(path: string): Table {
  const { tables, folder } = readFile(path, {});
  const others = Object.keys(tables).filter((name) => name !== "attestor");
  const { attestor } = tables as { attestor?: Table };
  if (attestor === undefined || others.length > 0)
    throw new Failure(EXIT.usage, `${path} must have the table [attestor], and nothing else`);
  return Object.fromEntries(Object.entries(attestor).map(([key, value]) => [key, absolute(value, folder)]));
}

function absolute(value: unknown, folder: string): unknown {
  const path = typeof value === "string" ? /^file:(.+)$/.exec(value)?.[1] : undefined;
  return path === undefined ? value : `file:${resolve(folder, path)}`;
}

/** Reads a file of settings. @param isFound whether no option names it. @throws Failure `usage` */
export function readFile(
  path: string,
  variables: Settings["variables"],
  isFound = false,
  next: string[] = [],
): Settings {
  try {
    return readSettingsFile(path, variables, isFound);
  } catch (error) {
    if (!hasCode(error, "config_invalid")) throw error;
    throw settingsFailure(error.details.faults, error, ...next);
  }
}

/** The failure of a command whose settings are wrong. Several faults are on lines of their own. */
export function settingsFailure(faults: readonly string[], cause: unknown, ...next: string[]): Failure {
  const [first = "", ...others] = faults;
  if (others.length === 0) return new Failure(EXIT.usage, first, next, cause);
  return new Failure(EXIT.usage, `${faults.length} faults in the settings`, [...faults, ...next], cause);
}

/** The settings with an Algorand node that is asked before those that they name. @param tokenFile a file with its token */
export function withAlgod(settings: Settings, url: string, tokenFile: string | undefined): Settings {
  const { tables } = settings;
  const chains = (tables.chains ?? {}) as { algorand?: { algod?: unknown[] } };
  const algod = chains.algorand?.algod ?? [];
  const first = tokenFile === undefined ? undefined : { url, token: `file:${resolve(tokenFile)}` };
  const others = algod.filter((node) => !isNode(node, url));
  const all = [first ?? algod.find((node) => isNode(node, url)) ?? url, ...others];
  return { ...settings, tables: { ...tables, chains: { ...chains, algorand: { ...chains.algorand, algod: all } } } };
}

/** Whether a node of the settings is the one with a URL, in whatever spelling. */
export function isNode(node: unknown, url: string): boolean {
  const named = typeof node === "string" ? node : (node as { url?: unknown } | null)?.url;
  return typeof named === "string" && URL.parse(named)?.href === new URL(url).href;
}
