import { existsSync } from "node:fs";
import { parseEnv } from "node:util";
import type { Environment } from "./environment.ts";
import { EXIT, Failure } from "./failure.ts";
import { foundText, readText } from "./files.ts";
import { DEFAULT_FOLDER, sandboxFolder } from "./sandbox-folder.ts";

/** Sources of a service's settings, in addition to the environment: a file or, with `sandbox`, the one in `./.attestd`. */
export type SettingsOptions = { env?: string; sandbox?: boolean };

export type Settings = Record<string, string | undefined>;

/**
 * The settings of a service: those of the environment, and those of the file that the environment does not set in either
 * form (`NAME` or `NAME_FILE`). @throws Failure `usage`
 */
export async function readSettings(options: SettingsOptions, { variables }: Environment): Promise<Settings> {
  const file = await settingsFileOf(options);
  if (!file) return variables;
  const otherForm = (name: string) => (name.endsWith("_FILE") ? name.slice(0, -"_FILE".length) : `${name}_FILE`);
  const fromFile = Object.entries(file.settings).filter(([name]) => !variables[otherForm(name)]);
  return { ...Object.fromEntries(fromFile), ...variables };
}

/**
 * The settings of the attestor's keys in a file, which replace all of those that are set: an empty one removes one.
 * @throws Failure `usage`
 */
export async function attestorSettings(path: string): Promise<Settings> {
  const text = await readText(path, EXIT.usage, `read the settings in ${path}`);
  const named = Object.entries(parseEnv(text)).filter(([name]) => name.startsWith("ATTESTOR_"));
  if (named.length === 0) throw new Failure(EXIT.usage, `${path} has no setting that begins with ATTESTOR_`);
  return { ATTESTOR_SIGNER: "seed", ...Object.fromEntries(named) };
}

/** The file that settings come from, whatever the environment sets; undefined where there is none. @throws Failure `usage` */
export async function settingsFileOf({ env, sandbox }: SettingsOptions) {
  const ofSandbox = sandboxFolder(DEFAULT_FOLDER).settings;
  const path = env ?? (sandbox && existsSync(ofSandbox) ? ofSandbox : undefined);
  if (path === undefined) return undefined;
  const action = `read the settings in ${path}`;
  const text = env === undefined ? (foundText(path, action) ?? "") : await readText(path, EXIT.usage, action);
  const settings = parseEnv(text);
  return { path, settings, names: Object.keys(settings), doubts: doubtsOf(text).map((doubt) => `${path}, ${doubt}`) };
}

/** Lines that an operator may have meant otherwise than `parseEnv` reads them: it drops what it cannot read. */
function doubtsOf(text: string): string[] {
  const doubts: string[] = [];
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
      if (!/^\s*(#|$)/.test(line)) doubts.push(`line ${at}, is not NAME=value, and is left out.`);
      continue;
    }
    const before = seen.get(name);
    if (before !== undefined)
      doubts.push(`line ${at}: ${name} is there already in line ${before}. The last one counts.`);
    seen.set(name, at);
  }
  return doubts;
}

/** The failure of a command whose settings are wrong: one fault, or all of them on lines of their own. */
export function settingsFailure(faults: readonly string[], cause: unknown, ...next: string[]): Failure {
  const [first = "", ...others] = faults;
  if (others.length === 0) return new Failure(EXIT.usage, first, next, cause);
  return new Failure(EXIT.usage, `${faults.length} faults in the settings`, [...faults, ...next], cause);
}
