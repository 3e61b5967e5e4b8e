import { resolve } from "node:path";
import { z } from "zod";
import { configInvalid, orReport } from "./faults.ts";
import { readSecretFile } from "./secret-file.ts";
import type { Settings } from "./settings-file.ts";

/** A value that the settings name, `file:PATH` or `env:NAME`, and that was read from there. */
export class Reference {
  readonly value: string;

  constructor(value: string) {
    this.value = value;
  }
}

const FORM = /^(file|env):(.*)$/s;

/** @returns the path of the file that a value names; undefined for every other value */
export function fileOf(value: unknown, { folder }: Pick<Settings, "folder">): string | undefined {
  const [, kind, path] = (typeof value === "string" && FORM.exec(value)) || [];
  return kind === "file" && path ? resolve(folder, path) : undefined;
}

/**
 * Replaces what names a value by a `Reference` with the value, also in lists and in their tables.
 * @param report called with a predicate for each value that cannot be read, which is undefined then
 */
export function withReferences(value: unknown, from: Settings, report: (predicate: string) => void): unknown {
  const inner = (one: unknown) => withReferences(one, from, report);
  if (Array.isArray(value)) return value.map(inner);
  // A date is an object too.
  if (isTable(value)) return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, inner(one)]));
  if (typeof value !== "string" || !FORM.test(value)) return value;
  return orReport(() => new Reference(read(value, from)), report);
}

/** Reads the secret that a setting names. @throws config_invalid when it names none, or it cannot be read */
export function referredValue(value: unknown, from: Settings): string {
  const refused = (predicate: string) => {
    throw configInvalid(`A token ${predicate}.`);
  };
  const found = withReferences(value, from, refused);
  return found instanceof Reference ? found.value : refused(NOT_INLINE);
}

export function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/** @throws RangeError a predicate */
function read(text: string, from: Settings): string {
  const path = fileOf(text, from);
  const [, kind, name = ""] = FORM.exec(text) ?? [];
  if (name === "") throw new RangeError(`names nothing after ${kind}:`);
  if (path === undefined) {
    const value = from.variables[name]?.trim();
    if (!value) throw new RangeError(`names the variable ${name} of the environment, which is not set`);
    return value;
  }
  try {
    return readSecretFile(path);
  } catch (error) {
    throw new RangeError(`names ${path}, which ${(error as RangeError).message}`);
  }
}

export const NOT_INLINE =
  'must not be written here: keep it in a file or a variable, and write "file:PATH" or "env:NAME"';

/** A secret: the value behind a reference, which is the only way to write it. */
export const secret = z
  .custom<Reference>((value) => value instanceof Reference, {
    error: ({ input }) => (input === undefined ? "is not set" : NOT_INLINE),
  })
  .transform(({ value }) => value);

/** A URL that may be a reference, because it may hold a secret. Inline, it must show none. */
export function orReference<S extends z.ZodType<unknown, string>>(schema: S) {
  return z.preprocess((value, { addIssue }) => {
    if (value instanceof Reference) return value.value;
    const { protocol, username, password } = (typeof value === "string" && URL.parse(value)) || {};
    if (!password && !(username && protocol?.startsWith("http"))) return value;
    addIssue(`holds a password, and ${NOT_INLINE}`);
    return z.NEVER;
  }, schema);
}
