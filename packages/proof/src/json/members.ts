import { fromBase64 } from "../encoding.ts";
import { formatError } from "../errors.ts";
import { childPointer } from "./parse.ts";

/**
 * The members of an object that has all of `required`, any of `optional` and no other.
 * @throws ProofError `format` pointing at the object, or at the first member that is missing or unknown.
 */
export function readMembers<const R extends string, const O extends string = never>(
  value: unknown,
  pointer: string,
  required: readonly R[],
  optional: readonly O[] = [],
): Record<R, unknown> & Partial<Record<O, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw formatError(pointer, "must be an object");
  const known: readonly string[] = [...required, ...optional];
  const foreign = Object.keys(value).find((name) => !known.includes(name));
  if (foreign !== undefined) throw formatError(childPointer(pointer, foreign), "unknown member");
  const missing = required.find((name) => !Object.hasOwn(value, name));
  if (missing !== undefined) throw formatError(childPointer(pointer, missing), "missing");
  return value as Record<R, unknown> & Partial<Record<O, unknown>>;
}

/** The value, which must be this constant. @throws ProofError `format` */
export function readConstant<const C extends string | number>(value: unknown, pointer: string, constant: C): C {
  if (value !== constant) throw formatError(pointer, `must be ${JSON.stringify(constant)}`);
  return constant;
}

/** A string that `accepts`; `what` completes "must be …". @throws ProofError `format` */
export function readString(
  value: unknown,
  pointer: string,
  what: string,
  accepts: RegExp | ((text: string) => boolean),
): string {
  if (typeof value === "string" && (accepts instanceof RegExp ? accepts.test(value) : accepts(value))) return value;
  throw formatError(pointer, `must be ${what}`);
}

/** An integer from `min` to 2^53 - 1. @throws ProofError `format` */
export function readInteger(value: unknown, pointer: string, min: number): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= min) return value;
  throw formatError(pointer, `must be an integer of at least ${min}`);
}

/** Canonical standard base64 of exactly `length` bytes, or of at least one. Returns the text. @throws ProofError `format` */
export function readBase64(value: unknown, pointer: string, length?: number): string {
  const what = `canonical base64 of ${length === undefined ? "at least one byte" : `${length} bytes`}`;
  return readString(value, pointer, what, (text) => {
    try {
      const bytes = fromBase64(text);
      return length === undefined ? bytes.length > 0 : bytes.length === length;
    } catch {
      return false;
    }
  });
}

/** An array of at most `max` items. @throws ProofError `format` */
export function readList<T>(value: unknown, pointer: string, max: number, read: (item: unknown, at: string) => T): T[] {
  if (!Array.isArray(value) || value.length > max)
    throw formatError(pointer, `must be an array of at most ${max} items`);
  return value.map((item, index) => read(item, childPointer(pointer, index)));
}

export const HEX_32_BYTES = /^[0-9a-f]{64}$/;
/** 43 characters hold 258 bits: the last has two unused ones, which are zero. */
export const BASE64URL_32_BYTES = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/;
export const BASE64URL_16_BYTES = /^[A-Za-z0-9_-]{21}[AQgw]$/;
export const CAIP2 = /^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}$/;
