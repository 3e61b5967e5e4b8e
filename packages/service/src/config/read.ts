import { z } from "zod";
import { nearestName, type SettingFaults } from "./faults.ts";
import { isTable, Reference, withReferences } from "./references.ts";
import type { Settings, Table } from "./settings-file.ts";

/** What is read by a schema: a setting is undefined when it is absent or at fault. */
export type Read<S> =
  S extends z.ZodObject<infer Shape>
    ? { [K in keyof Shape]: Read<Shape[K]> }
    : S extends z.ZodArray<infer T extends z.ZodObject>
      ? Read<T>[]
      : z.output<S> | undefined;

type Path = readonly (string | number)[];

/** @param unread takes the faults of references that cannot be read, by the key of the setting */
type Faults = { faults: SettingFaults; unread: (key: string) => SettingFaults };

/**
 * Reads each setting by its own part of a schema, whose tables are ZodObjects, and adds every fault: settings that are
 * missing or wrong, and keys that are none of a setting.
 */
export function readSettings<S extends z.ZodObject>(
  schema: S,
  settings: Settings,
  { faults, unread }: Faults,
): Read<S> {
  const keys = settingsOf(schema).map(({ key }) => key);
  return table(schema, settings.tables, []) as Read<S>;

  function table({ shape }: z.ZodObject, given: unknown, path: Path): unknown {
    if (given !== undefined && !isTable(given)) {
      faults.add(`${keyOf(path)} must be a table, [${keyOf(path)}].`);
      return {};
    }
    for (const key of Object.keys(given ?? {}).filter((key) => !Object.hasOwn(shape, key)))
      faults.add(unknown([...path, key], Object.keys(shape), keys));
    return Object.fromEntries(
      Object.entries<z.ZodType>(shape).map(([key, part]) => [key, value(part, given?.[key], [...path, key])]),
    );
  }

  function value(part: z.ZodType, given: unknown, path: Path): unknown {
    if (part instanceof z.ZodObject) return table(part, given, path);
    const tables = tablesOf(part);
    if (!tables) return setting(part, given, path);
    if (given !== undefined && !(Array.isArray(given) && given.every(isTable)))
      faults.add(`${keyOf(path)} must be tables, each with the head [[${keyOf(path)}]].`);
    return Array.isArray(given) ? given.map((one, index) => table(tables, one, [...path, index])) : [];
  }

  function setting(part: z.ZodType, given: unknown, path: Path): unknown {
    const key = keyOf(path);
    if (given === "") {
      faults.add(`${key} is empty: fill it in, or remove it.`);
      return undefined;
    }
    let isUnread = false;
    const resolved = withReferences(given, settings, (predicate) => {
      isUnread = true;
      unread(key).add(`${key} ${predicate}.`);
    });
    if (isUnread) return undefined;
    const { data, error } = part.safeParse(resolved, { error: predicateOf });
    // One fault of each entry of a list.
    const issues = Map.groupBy(error?.issues ?? [], ({ path: [entry] }) => entry).values();
    for (const [issue] of issues) {
      if (issue?.code === "unrecognized_keys")
        for (const one of issue.keys) faults.add(unknown([...path, ...within(given, issue.path), one], [], keys));
      else if (issue) faults.add(`${keyOf([...path, ...within(given, issue.path)])} ${issue.message}.`);
    }
    return data;
  }
}

/** A setting of a schema, by its dotted key; `isListed`: in a table that may be there several times. */
export type Setting = { key: string; schema: z.ZodType; path: readonly string[]; isListed: boolean };

/** Every setting of a schema, those of a table after one another. */
export function settingsOf(schema: z.ZodObject, path: readonly string[] = [], isListed = false): Setting[] {
  return Object.entries<z.ZodType>(schema.shape).flatMap(([name, part]) => {
    const own = [...path, name];
    if (part instanceof z.ZodObject) return settingsOf(part, own, isListed);
    const tables = tablesOf(part);
    return tables ? settingsOf(tables, own, true) : [{ key: own.join("."), schema: part, path: own, isListed }];
  });
}

/** The schema of a table that may be there several times; undefined for every other. */
export function tablesOf(schema: z.ZodType): z.ZodObject | undefined {
  return schema instanceof z.ZodArray && schema.element instanceof z.ZodObject ? schema.element : undefined;
}

/** The part of an issue's path that the file has: a schema may take a text for a table. */
function within(given: unknown, path: readonly PropertyKey[]): (string | number)[] {
  let at = given;
  return path.flatMap((step) => {
    const isThere = Array.isArray(at) || isTable(at);
    at = isThere ? (at as Table)[step as string] : undefined;
    return isThere ? [step as string | number] : [];
  });
}

/** Such as `chains.algorand.algod (entry 2).url`. */
function keyOf(path: Path): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === "number") return `${text} (entry ${step + 1})`;
    const name = /^[\w-]{1,64}$/.test(step) ? step : JSON.stringify(step.slice(0, 64));
    return text === "" ? name : `${text}.${name}`;
  }, "");
}

/** @param siblings keys of the same table; @param keys every dotted key */
function unknown(path: Path, siblings: readonly string[], keys: readonly string[]): string {
  const name = String(path.at(-1));
  const table = path.slice(0, -1);
  const nearest = nearestName(name, siblings);
  const near = nearestName(name, new Set(keys.flatMap((key) => key.split("."))));
  const elsewhere = keys.find((key) => near !== undefined && key.split(".").includes(near));
  const meant = nearest === undefined ? elsewhere : keyOf([...table, nearest]);
  return `${keyOf(path)} is not a setting of attestd.${meant === undefined ? "" : ` Did you mean ${meant}?`}`;
}

/** The predicate of an issue for which the schema has no words of its own. */
function predicateOf(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.input === undefined) return "is not set";
  if (issue.code !== "invalid_type") return undefined;
  if (issue.input instanceof Reference) return "is no secret: write its value here, without file: or env:";
  return EXPECTED[issue.expected];
}

const EXPECTED: Readonly<Record<string, string>> = {
  string: "must be a text, in quotation marks",
  number: "must be a number, without quotation marks",
  int: "must be a whole number",
  boolean: "must be true or false, without quotation marks",
  array: "must be a list, in brackets",
  object: "must be a text or a table",
};
