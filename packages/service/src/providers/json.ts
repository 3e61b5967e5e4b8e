type Reviver = (this: unknown, key: string, value: unknown, context: { source?: string }) => unknown;

/** What every integer beyond 2^53 - 1 looks like, if not only those: without one the reviver, which costs 5×, is idle. */
const LONG_INTEGER = /(?:^|[\s:,[])-?\d{16}/;

/** Of at most 78 digits, as 2^256 - 1 has: what a decimal costs to read grows faster than its length. */
const INTEGER = /^-?\d{1,78}$/;

/**
 * JSON.parse that keeps every integer of a chain: those beyond 2^53 - 1 become bigint instead of a rounded number.
 * Upstreams' answers only; documents at our own doors have a stricter parser.
 *
 * @throws SyntaxError when the text is not JSON
 */
export function parseLosslessJson(text: string): unknown {
  if (!LONG_INTEGER.test(text)) return JSON.parse(text);
  const keepIntegers: Reviver = (_key, value, { source }) =>
    typeof value === "number" && !Number.isSafeInteger(value) && source !== undefined && INTEGER.test(source)
      ? BigInt(source)
      : value;
  // TypeScript does not know the reviver's third argument yet (ECMAScript 2026, JSON.parse source text access).
  return JSON.parse(text, keepIntegers as Parameters<typeof JSON.parse>[1]);
}
