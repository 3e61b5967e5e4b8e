type Reviver = (this: unknown, key: string, value: unknown, context: { source?: string }) => unknown;

/**
 * Matches every integer beyond 2^53 - 1, and some other text. Without a match the reviver, which makes parsing five
 * times slower, is not used.
 */
const LONG_INTEGER = /(?:^|[\s:,[])-?\d{16}/;

/** At most 78 digits, the length of 2^256 - 1: the cost of reading a decimal grows faster than its length. */
const INTEGER = /^-?\d{1,78}$/;

/** A shorter text is parsed in some ms, whatever it contains. */
const MAX_UNCHECKED = 256 * 1024;
/** A depth that no answer reaches: inner transactions, the deepest, are eight deep. */
const MAX_DEPTH = 100;
/** The limit of members and items, which take a second to parse: a full block of Base has some 200,000. */
const MAX_MEMBERS = 1_000_000;
/** The same for a text with long integers: a thousand transactions of an indexer have some 50,000. */
const MAX_MEMBERS_REVIVED = 200_000;

/**
 * Parses JSON, keeping integers beyond 2^53 - 1 exact, as bigint. Only for upstreams' answers: requests to us have a
 * stricter parser.
 * @throws SyntaxError when the text is not JSON, or would take seconds to parse, during which nothing else is answered
 */
export function parseLosslessJson(text: string): unknown {
  const isPlain = !LONG_INTEGER.test(text);
  if (text.length > MAX_UNCHECKED) requireCheap(text, isPlain ? MAX_MEMBERS : MAX_MEMBERS_REVIVED);
  if (isPlain) return JSON.parse(text);
  const keepIntegers: Reviver = (_key, value, { source }) =>
    typeof value === "number" && !Number.isSafeInteger(value) && source !== undefined && INTEGER.test(source)
      ? BigInt(source)
      : value;
  // TypeScript does not know the reviver's third argument yet (ECMAScript 2026, JSON.parse source text access).
  return JSON.parse(text, keepIntegers as Parameters<typeof JSON.parse>[1]);
}

/** @throws SyntaxError for a text with too many levels or members */
function requireCheap(text: string, maxMembers: number): void {
  let [depth, members] = [0, 0];
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at);
        break;
      case COMMA:
        members += 1;
        break;
      case OPEN_LIST:
      case OPEN_OBJECT:
        depth += 1;
        break;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        depth -= 1;
    }
    if (depth > MAX_DEPTH || members > maxMembers) throw new SyntaxError("the text has too many levels or members");
  }
}

const [QUOTE, COMMA, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x22, 0x2c, 0x5b, 0x5d, 0x7b, 0x7d];

/** @returns the offset of the quotation mark that ends a string; the text's length if there is none */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; ; at++) {
    at = text.indexOf('"', at);
    if (at < 0) return text.length;
    let escapes = 0;
    while (text[at - 1 - escapes] === "\\") escapes += 1;
    if (escapes % 2 === 0) return at;
  }
}
