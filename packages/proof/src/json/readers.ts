import { fromBase64 } from "../encoding.ts";
import { attempt, formatError } from "../errors.ts";
import { childPointer } from "./parse.ts";

/** Reads the value at a JSON pointer. @throws ProofError `format` with a pointer to it or into it */
export type Reader<T> = (value: unknown, pointer: string) => T;
type Readers<T> = { [Member in keyof T]: Reader<T[Member]> };

/** Reads an object that has all of `required`, any of `optional` and no other member. */
export function object<R extends object, O extends object = Record<never, never>>(
  required: Readers<R>,
  optional?: Readers<O>,
): Reader<R & Partial<O>> {
  const readers = new Map<string, Reader<unknown>>(Object.entries({ ...required, ...optional }));
  return (value, pointer) => {
    if (!isObject(value)) throw formatError(pointer, "must be an object");
    const foreign = Object.keys(value).find((name) => !readers.has(name));
    if (foreign !== undefined) throw formatError(childPointer(pointer, foreign), "unknown member");
    const missing = Object.keys(required).find((name) => !Object.hasOwn(value, name));
    if (missing !== undefined) throw formatError(`${pointer}/${missing}`, "missing");
    const members: Record<string, unknown> = {};
    for (const [name, read] of readers)
      if (Object.hasOwn(value, name)) members[name] = read(value[name], `${pointer}/${name}`);
    return members as R & Partial<O>;
  };
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Reads one of these values. */
export function constant<const C extends string | number>(...constants: C[]): Reader<C> {
  return (value, pointer) => {
    const found = constants.find((candidate) => candidate === value);
    if (found !== undefined) return found;
    throw formatError(pointer, `must be ${constants.map((candidate) => JSON.stringify(candidate)).join(" or ")}`);
  };
}

/** Reads a string that `accepts`; `what` completes "must be …". */
export function string(what: string, accepts: RegExp | ((text: string) => boolean)): Reader<string> {
  return (value, pointer) => {
    if (typeof value === "string" && (accepts instanceof RegExp ? accepts.test(value) : accepts(value))) return value;
    throw formatError(pointer, `must be ${what}`);
  };
}

/** Reads an integer from `min` to `max`; by default to 2^53 - 1. */
export function integer(min: number, max = Number.MAX_SAFE_INTEGER): Reader<number> {
  return (value, pointer) => {
    if (typeof value === "number" && Number.isSafeInteger(value) && value >= min && value <= max) return value;
    const span = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
    throw formatError(pointer, `must be an integer ${span}`);
  };
}

/** Reads canonical standard base64 of exactly `length` bytes, or of at least one. */
export function base64(length?: number): Reader<string> {
  const what = `canonical base64 of ${length ?? "at least 1"} bytes`;
  // For up to 64 bytes a pattern costs a quarter of decoding; for a key, five times as much.
  if (length !== undefined && length <= 64) return string(what, base64Pattern(length));
  return string(what, (text) => {
    const found = attempt("malformed", () => fromBase64(text))?.length ?? 0;
    return length === undefined ? found > 0 : found === length;
  });
}

/**
 * If the length is not a multiple of three, the last character has unused bits, which are zero (RFC 4648 section 3.5).
 */
function base64Pattern(length: number): RegExp {
  const end = ["", "[AQgw]==", "[AEIMQUYcgkosw048]="][length % 3];
  return new RegExp(`^[A-Za-z0-9+/]{${Math.floor((length * 8) / 6)}}${end}$`);
}

/** Reads an array of at most `max` items. */
export function list<T>(max: number, read: Reader<T>): Reader<T[]> {
  return (value, pointer) => {
    if (!Array.isArray(value) || value.length > max)
      throw formatError(pointer, `must be an array of at most ${max} items`);
    return value.map((item, index) => read(item, childPointer(pointer, index)));
  };
}

export const hex32Bytes = string("lower-case hex of 32 bytes", /^[0-9a-f]{64}$/);
/** 43 characters hold 258 bits: the last has two unused ones, which are zero. */
export const base64Url32Bytes = string("base64url of 32 bytes", /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/);
export const base64Url16Bytes = string("base64url of 16 bytes", /^[A-Za-z0-9_-]{21}[AQgw]$/);
export const caip2 = string("CAIP-2", /^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}$/);
