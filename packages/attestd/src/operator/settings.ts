import { existsSync } from "node:fs";
import { parseEnv } from "node:util";
import { EXIT, Failure } from "../failure.ts";
import { foundText, readText } from "../files/files.ts";
import type { SettingsOptions } from "../options.ts";
import type { Environment } from "../terminal/environment.ts";
import type { Node } from "../trust/chain-check.ts";
import { DEFAULT_FOLDER, sandboxFolder } from "../trust/sandbox-folder.ts";

export type Settings = Record<string, string | undefined>;

/**
 * Reads the settings of a service: from the environment and, where the environment does not have a setting in either form
 * (`NAME` or `NAME_FILE`), from the file. @throws Failure `usage`
 */
export async function readSettings(options: SettingsOptions, { variables }: Environment): Promise<Settings> {
  const file = await settingsFileOf(options);
  if (!file) return variables;
  const otherForm = (name: string) => (name.endsWith("_FILE") ? name.slice(0, -"_FILE".length) : `${name}_FILE`);
  const fromFile = Object.entries(file.settings).filter(([name]) => !variables[otherForm(name)]);
  return { ...Object.fromEntries(fromFile), ...variables };
}

/**
 * Reads the settings of the attestor's keys from a file. They replace the ones that are set; an empty value removes a setting.
 * @throws Failure `usage`
 */
export async function attestorSettings(path: string): Promise<Settings> {
  const text = await readText(path, EXIT.usage, `read the settings in ${path}`);
  const named = Object.entries(parseEnv(text)).filter(([name]) => name.startsWith("ATTESTOR_"));
  if (named.length === 0) throw new Failure(EXIT.usage, `${path} has no setting that begins with ATTESTOR_`);
  return { ATTESTOR_SIGNER: "seed", ...Object.fromEntries(named) };
}

/** Reads the file of settings: the named one, or the sandbox's. @returns undefined without a file. @throws Failure `usage` */
export async function settingsFileOf({ env, sandbox }: SettingsOptions) {
  const ofSandbox = sandboxFolder(DEFAULT_FOLDER).settings;
  const path = env ?? (sandbox && existsSync(ofSandbox) ? ofSandbox : undefined);
  if (path === undefined) return undefined;
  const action = `read the settings in ${path}`;
  const text = env === undefined ? (foundText(path, action) ?? "") : await readText(path, EXIT.usage, action);
  const settings = parseEnv(text);
  return { path, settings, names: Object.keys(settings), degraded: mistakesIn(text).map((line) => `${path}, ${line}`) };
}

/** Describes lines that are probably mistakes. `parseEnv` silently drops what it cannot read. */
function mistakesIn(text: string): string[] {
  const mistakes: string[] = [];
  const seen = new Map<string, number>();
  let quote: string | undefined;
  for (const [index, line] of text.split("\n").entries()) {
    const opened = quote;
    const [, name, value = ""] = opened ? [] : (/^\s*(?:export\s+)?([\w.-]+)\s*=\s*(.*)$/.exec(line) ?? []);
    const rest = opened ? line : /^["'`]/.test(value) ? value.slice(1) : "";
    const mark = opened ?? (/^["'`]/.test(value) ? value[0] : undefined);
    // A value in quotation marks may have several lines.
    quote = mark !== undefined && !rest.includes(mark) ? mark : undefined;
    if (opened) continue;
    const at = index + 1;
    if (name === undefined) {
      if (!/^\s*(#|$)/.test(line)) mistakes.push(`line ${at}, is not NAME=value, and is ignored.`);
      continue;
    }
    const before = seen.get(name);
    if (before !== undefined)
      mistakes.push(`line ${at}: ${name} is there already in line ${before}. The last one counts.`);
    seen.set(name, at);
  }
  return mistakes;
}

/** The failure of a command whose settings are wrong. Several faults are on lines of their own. */
export function settingsFailure(faults: readonly string[], cause: unknown, ...next: string[]): Failure {
  const [first = "", ...others] = faults;
  if (others.length === 0) return new Failure(EXIT.usage, first, next, cause);
  return new Failure(EXIT.usage, `${faults.length} faults in the settings`, [...faults, ...next], cause);
}

/** Reads the file of settings for `attestd doctor`, with what is probably a mistake in it. */
export async function examinedFile(options: SettingsOptions, { variables }: Environment) {
  const file = await settingsFileOf(options);
  if (!file) return undefined;
  const { path, names, settings, degraded } = file;
  const replaced = names.filter((name) => variables[name] && variables[name] !== settings[name]);
  const replacements = replaced.map((name) => `${name} of the environment replaces the one in ${path}.`);
  return { path, names, degraded: [...degraded, ...replacements] };
}

/** The settings with an Algorand node that is asked before the ones that they name. */
export function withAlgod(settings: Settings, { url, token }: Node): Settings {
  const [urls, tokens] = [settings.ALGOD_URL, settings.ALGOD_TOKEN].map((list = "") => list.split(","));
  const nodes = (urls ?? []).filter(Boolean).map((one, index) => ({ url: one, token: tokens?.[index] ?? "" }));
  const isNamed = (one: { url: string }) => URL.parse(one.url.trim())?.href === new URL(url).href;
  const first = { url, token: token ?? nodes.find(isNamed)?.token ?? "" };
  const all = [first, ...nodes.filter((one) => !isNamed(one))];
  return {
    ...settings,
    ALGOD_URL: all.map((one) => one.url).join(),
    ALGOD_TOKEN: all.map((one) => one.token).join(),
  };
}
