import { utf8 } from "../encoding.ts";
import type { JsonValue } from "./parse.ts";

/**
 * JSON Canonicalization Scheme (RFC 8785).
 * @throws TypeError for a lone surrogate, a number that is not finite, undefined
 */
export function canonicalize(value: JsonValue): string {
  if (typeof value !== "object" || value === null) return scalar(value);
  let text = "";
  if (Array.isArray(value)) {
    for (const item of value) text += `${text && ","}${canonicalize(item)}`;
    return `[${text}]`;
  }
  for (const name of Object.keys(value).sort())
    text += `${text && ","}${scalar(name)}:${canonicalize(value[name] as JsonValue)}`;
  return `{${text}}`;
}

/** Returns the canonical JSON in UTF-8, which is signed and hashed. */
export function canonicalBytes(value: JsonValue): Uint8Array<ArrayBuffer> {
  return utf8(canonicalize(value));
}

function scalar(value: string | number | boolean | null): string {
  if (typeof value === "string" ? !value.isWellFormed() : typeof value === "number" && !Number.isFinite(value))
    throw new TypeError("no canonical JSON: a lone surrogate or a number that is not finite");
  const text = JSON.stringify(value);
  if (text === undefined) throw new TypeError(`no canonical JSON: ${typeof value}`);
  return text;
}
