type Reviver = (this: unknown, key: string, value: unknown, context: { source?: string }) => unknown;

/** Matches every integer beyond 2^53 - 1, and some other text. Without a match the reviver, which costs 5×, is not used. */
const LONG_INTEGER = /(?:^|[\s:,[])-?\d{16}/;

/** At most 78 digits, the length of 2^256 - 1: the cost of reading a decimal grows faster than its length. */
const INTEGER = /^-?\d{1,78}$/;

/**
 * JSON.parse that keeps integers beyond 2^53 - 1 exact, as bigint. Only for upstreams' answers: requests to us have a
 * stricter parser.
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
