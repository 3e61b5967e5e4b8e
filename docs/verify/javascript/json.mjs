// Strict JSON, of which every reader sees the same value, and its canonical bytes.
import assert from "node:assert/strict";

/** Of valid JSON: brackets, commas, strings with the colon behind a name, numbers and words. */
const TOKENS = /[{}[\],]|"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|[^\s{}[\],"]+/g;
// It skips a byte order mark.
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** The value of a file. JSON.parse alone would hide a member that is there twice, and how numbers are spelled. */
export function parse(bytes, most = 2 ** 21, members = 4096) {
  assert(bytes.length <= most, "too large");
  const text = utf8.decode(bytes);
  const value = JSON.parse(text);
  const open = [];
  let values = 0;
  for (const [token, colon] of text.matchAll(TOKENS)) {
    if (token === "{" || token === "[") assert(open.push(new Set()) <= 16, "nested deeper than 16");
    if (token === "}" || token === "]") open.pop();
    if (token[0] === '"') {
      const name = JSON.parse(colon ? token.slice(0, -colon.length) : token);
      assert(name.isWellFormed(), "half a surrogate pair");
      assert(!colon || (name !== "__proto__" && !open.at(-1).has(name)), "a member that is there twice, or __proto__");
      if (colon) open.at(-1).add(name);
    }
    if (/[-\d]/.test(token[0]))
      assert(
        Number.isSafeInteger(Number(token)) && token === String(Number(token)),
        "no integer, or spelled otherwise",
      );
    if (!colon && !/[}\],]/.test(token[0])) assert(++values <= members + 1, "too many members"); // and the whole
  }
  return value;
}

const sort = (_, value) => (value?.constructor === Object ? Object.fromEntries(Object.entries(value).sort()) : value);
/** RFC 8785, for values whose names are ASCII and whose numbers are integers. */
export const canonical = (value) => Buffer.from(JSON.stringify(value, sort));
