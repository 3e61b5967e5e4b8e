import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isTable } from "../src/config/references.ts";
import { type Settings, type Table, tomlOf } from "../src/config/settings-file.ts";

/* Settings in tests: nested as their file has them. */

export type { Settings, Table } from "../src/config/settings-file.ts";

let folder: string | undefined;
let files = 0;

/** The folder of this process for secrets and files of settings, removed when it ends. */
function ownFolder(): string {
  if (folder !== undefined) return folder;
  const made = mkdtempSync(join(tmpdir(), "attestd-settings-"));
  process.once("exit", () => rmSync(made, { recursive: true, force: true }));
  folder = made;
  return made;
}

/** Keeps a secret in a file. @returns what a setting names it by */
export function secret(value: string): string {
  const path = join(ownFolder(), `secret-${++files}`);
  writeFileSync(path, value, { mode: 0o600 });
  return `file:${path}`;
}

/** Settings without a file. */
export function settingsOf(tables: Table, variables: Settings["variables"] = {}): Settings {
  return { tables, folder: tmpdir(), variables };
}

/** Settings, or their tables, with others in their place: tables are merged, lists replaced; undefined removes. */
export function merged(tables: Table, over: Table): Table {
  const all = { ...tables };
  for (const [key, value] of Object.entries(over)) {
    const before = all[key];
    if (value === undefined) delete all[key];
    else all[key] = isTable(value) ? merged(isTable(before) ? before : {}, value) : value;
  }
  return all;
}

export function withOver(settings: Settings, over: Table, variables: Settings["variables"] = {}): Settings {
  return { ...settings, tables: merged(settings.tables, over), variables: { ...settings.variables, ...variables } };
}

/** Writes settings for a process, as an operator would. @param path a new file of this process, unless given */
export function settingsFileOf(tables: Table, path = join(ownFolder(), `attestd-${++files}.toml`)): string {
  writeFileSync(path, tomlOf(tables));
  return path;
}

/** The tables of facilitators without credentials: one of each URL. @param urls by rail, in order of preference */
export function facilitatorsAt(urls: Readonly<Record<string, string | readonly string[]>>): Table[] {
  const rails = Object.entries(urls).map(([rail, at]) => [rail, [at].flat()] as const);
  const all = new Set(rails.flatMap(([, list]) => list));
  return [...all].map((url) => ({ url, rails: rails.flatMap(([rail, list]) => (list.includes(url) ? [rail] : [])) }));
}
