/** A JSON value with 64-bit integers as bigint. */
export type Json = string | number | bigint | boolean | null | Json[] | JsonObject;
export type JsonObject = { [name: string]: Json | undefined };

// JSON.rawJSON (ES2026) is not yet in TypeScript's libraries.
const { rawJSON } = JSON as typeof JSON & { rawJSON(text: string): unknown };

/** Writes JSON; every bigint becomes an integer with all its digits. @param indent spaces for each level, one line without */
export function jsonText(value: unknown, indent?: number): string {
  const exact = (_: string, member: unknown) => (typeof member === "bigint" ? rawJSON(member.toString()) : member);
  return JSON.stringify(value, exact, indent);
}

/** Parses JSON; integers beyond 2^53 become bigint. @throws SyntaxError */
export function parseJson(text: string): Json {
  return JSON.parse(text, keepDigits as (key: string, value: unknown) => unknown);
}

function keepDigits(_key: string, value: unknown, { source }: { source?: string }): unknown {
  const isRounded =
    typeof value === "number" && source !== undefined && !Number.isSafeInteger(value) && /^-?\d+$/.test(source);
  return isRounded ? BigInt(source) : value;
}
