import { z } from "zod";
import { withPort } from "./config.ts";
import type { OwnTables } from "./own-tables.ts";
import { type Setting, settingsOf, tablesOf } from "./read.ts";
import { isTable } from "./references.ts";
import { type About, settingsSchema } from "./settings.ts";
import { type Settings, type Table, tomlOf } from "./settings-file.ts";

/* What is said of settings: all of them, or those of one deployment. */

/** A setting as people are told of it. */
export type DescribedSetting = Pick<Setting, "key" | "path" | "isListed"> &
  About & {
    isRequired: boolean;
    /** As TOML has it; undefined where the schema has none. */
    default: unknown;
  };

/** Every setting, in the order of the file. */
export function describedSettings(own: OwnTables): DescribedSetting[] {
  return settingsOf(settingsSchema(own)).map(({ schema, ...setting }) => {
    const about = (schema.meta() ?? {}) as About;
    const isRequired = about.isRequired ?? !schema.safeParse(undefined).success;
    return { ...setting, ...about, isRequired, default: defaultOf(schema) };
  });
}

const HEAD = `# Settings of attestd. Fill in what has no # before it, check it with \`attestd doctor\`, and start with \`attestd serve\`.
# A line with # before a setting shows its default, or an example where there is none. Paths start in the folder of this file.
# A secret never stands here: "file:PATH" names a file that has it, "env:NAME" a variable of the environment.
# docs/operating/settings.md says more; docs/first-sale.md goes through what is required, in order.`;

/** The commented file with every setting, its default and its reason. What is required stands without # before it. */
export function settingsFile(own: OwnTables): string {
  let table = "";
  const entries = describedSettings(own).map((setting) => {
    const { path, description = "", otherwise, isRequired, example, isListed } = setting;
    const name = path.slice(0, -1).join(".");
    const head = name === table ? [] : [isListed ? `[[${name}]]` : `[${name}]`];
    table = name;
    const none = setting.default === undefined && otherwise ? ` Default: ${otherwise}.` : "";
    const line = tomlOf({ [path.at(-1) as string]: setting.default ?? example ?? "" }).trim();
    return [...head, ...comment(plain(description + none)), `${isRequired ? "" : "# "}${line}`].join("\n");
  });
  return `${[HEAD, ...entries].join("\n\n")}\n`;
}

/**
 * The settings that are in force, defaults among them, as a file of settings. A secret is shown as what names it.
 * @param settings which `readConfig` accepts
 */
export function settingsInForce(settings: Settings, own: OwnTables): string {
  return tomlOf(withDefaults(settingsSchema(own), withPort(settings)));
}

function withDefaults({ shape }: z.ZodObject, given: Table): Table {
  const entries = Object.entries<z.ZodType>(shape).map(([name, part]) => {
    if (part instanceof z.ZodObject) return [name, withDefaults(part, (given[name] ?? {}) as Table)];
    const table = tablesOf(part);
    return [
      name,
      table ? (given[name] as Table[]).map((one) => withDefaults(table, one)) : (given[name] ?? defaultOf(part)),
    ];
  });
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

/** The default of a setting, as TOML has it. @returns undefined without one */
function defaultOf(schema: z.ZodType): unknown {
  const { data } = schema.safeParse(undefined);
  return typeof data === "bigint" ? Number(data) : data;
}

/** The settings by dotted key, as they are written: without their values where these may hold a secret. */
export function publicSettings(settings: Settings, own: OwnTables): Record<string, unknown> {
  const given = withPort(settings);
  return Object.fromEntries(
    describedSettings(own).flatMap(({ key, path, isListed, mayBeSecret }) => {
      const value = isListed
        ? (given.facilitators as Table[]).map((table) => table[path.at(-1) as string] ?? null)
        : valueAt(given, path);
      if (value === undefined) return [];
      return [[key, mayBeSecret ? "(not saved)" : value]];
    }),
  );
}

function valueAt(tables: Table, path: readonly string[]): unknown {
  return path.reduce<unknown>((table, key) => (isTable(table) ? table[key] : undefined), tables);
}

/** Text without Markdown. */
function plain(text: string): string {
  return text
    .replace(/; see \[[^\]]+\]\([^)]+\)/g, "")
    .replace(/\[([^\]]+)\]\([^)]+\)/g, "$1")
    .replaceAll("`", "");
}

const WIDTH = 110;

/** Comment lines of at most `WIDTH` characters. */
function comment(text: string): string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    const last = lines.at(-1) as string;
    if (`# ${last} ${word}`.length > WIDTH) lines.push(word);
    else lines[lines.length - 1] = last === "" ? word : `${last} ${word}`;
  }
  return lines.map((line) => `# ${line}`);
}
