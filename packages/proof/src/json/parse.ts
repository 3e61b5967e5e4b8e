import { fileText } from "../encoding.ts";
import { isProofError, type JsonFault, ProofError } from "../errors.ts";
import { excerpt } from "../text.ts";

/** A JSON value. Objects are plain, and never have a member named `__proto__`. */
export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;
export type JsonObject = { [member: string]: JsonValue };

/** Limits of the JSON from which a bundle, a key history or a receipt is read. */
export const MAX_JSON_BYTES = 2 ** 21;
export const MAX_JSON_DEPTH = 16;
export const MAX_JSON_MEMBERS = 4096;

export interface JsonLimits {
  /** Bytes, or UTF-16 units of a text, which are never more. Default: `MAX_JSON_BYTES`. */
  maxSize?: number;
  /** Nested objects and arrays; the outermost is 1. Default: `MAX_JSON_DEPTH`. */
  maxDepth?: number;
  /** Members of all objects and items of all arrays together. Default: `MAX_JSON_MEMBERS`. */
  maxMembers?: number;
  /** Whether an integer may end in `.0`, as protobuf's JSON writes the numbers of a `google.protobuf.Struct`. */
  allowPointZero?: boolean;
  /** Whether fractions are allowed, as in protocol messages. No file of the format has one. */
  allowFractions?: boolean;
  /**
   * Called at the opening bracket of each array, and may parse it instead.
   * @param path to the array: names of members, and indexes of items
   * @returns the array's value, of any type, and the offset after its closing bracket; undefined to have it parsed
   */
  takeArray?: (text: string, offset: number, path: readonly (string | number)[]) => TakenArray | undefined;
}

export type TakenArray = { value: unknown; end: number };

/**
 * Parses JSON (RFC 8259) strictly, so that every reader sees the same value. It refuses what parsers read differently:
 * duplicate members, however their names are escaped, `__proto__`, lone surrogates, invalid UTF-8, numbers that are not
 * integers or are beyond ±(2^53 - 1), and numbers that RFC 8785 spells otherwise, such as `-0`, `1.0` and `1e3`.
 * @param input text, or the bytes of a file, whose byte order mark is skipped
 * @throws ProofError `json`
 */
export function parseJson(input: string | Uint8Array, limits: JsonLimits = {}): JsonValue {
  const { maxSize = MAX_JSON_BYTES, maxDepth = MAX_JSON_DEPTH, maxMembers = MAX_JSON_MEMBERS } = limits;
  const { allowPointZero = false, allowFractions = false, takeArray } = limits;
  if (input.length > maxSize) throw refusal("too_large", `larger than ${maxSize} bytes`);
  const text = typeof input === "string" ? input : textOf(input);
  return new Parser(text, { maxDepth, maxMembers, allowPointZero, allowFractions, takeArray }).document();
}

function textOf(bytes: Uint8Array): string {
  try {
    return fileText(bytes);
  } catch (error) {
    if (isProofError(error, "malformed")) throw new ProofError("json", error.message, { fault: "encoding", line: 1 });
    throw error;
  }
}

function refusal(fault: JsonFault, reason: string, line = 1, pointer = ""): ProofError {
  return new ProofError("json", `line ${line}: ${reason}`, { fault, line, pointer });
}

/** Parses a text or its UTF-8, and returns any other value as it is. @throws ProofError `json` */
export function jsonValue(input: unknown, limits?: JsonLimits): unknown {
  return typeof input === "string" || input instanceof Uint8Array ? parseJson(input, limits) : input;
}

/** Returns a JSON pointer (RFC 6901) to a member. `excerpt` cuts a long name. */
export function childPointer(pointer: string, member: string | number): string {
  return `${pointer}/${excerpt(String(member)).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
/** Above this length `JSON.parse` is faster than this test. */
const MAX_TESTED = 64;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a JSON string may not hold unescaped.
const NEEDS_UNESCAPING = /[\\\u0000-\u001f]/;

// UTF-16 units: comparing numbers is twice as fast as comparing strings, and every request runs through this.
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const LETTER_F = 0x66;
const LETTER_N = 0x6e;
const LETTER_T = 0x74;

type ParserLimits = Required<Omit<JsonLimits, "maxSize" | "takeArray">> & {
  takeArray: JsonLimits["takeArray"] | undefined;
};

class Parser {
  readonly #text: string;
  readonly #limits: ParserLimits;
  readonly #path: (string | number)[] = [];
  #members = 0;
  #offset = 0;

  constructor(text: string, limits: ParserLimits) {
    this.#text = text;
    this.#limits = limits;
  }

  document(): JsonValue {
    const value = this.#value();
    this.#skipSpace();
    if (this.#offset < this.#text.length) throw this.#unexpected();
    return value;
  }

  #value(): JsonValue {
    this.#skipSpace();
    switch (this.#text.charCodeAt(this.#offset)) {
      case OPEN_BRACE:
        return this.#object();
      case OPEN_BRACKET:
        return this.#array();
      case QUOTE:
        return this.#string();
      case LETTER_T:
        return this.#literal("true", true);
      case LETTER_F:
        return this.#literal("false", false);
      case LETTER_N:
        return this.#literal("null", null);
      default:
        return this.#number();
    }
  }

  #object(): JsonObject {
    this.#enter();
    const object: JsonObject = {};
    if (this.#consume(CLOSE_BRACE)) return object;
    do {
      this.#skipSpace();
      if (this.#text.charCodeAt(this.#offset) !== QUOTE) throw this.#unexpected();
      const name = this.#string();
      this.#step(name);
      if (Object.hasOwn(object, name))
        throw this.#error("duplicate_member", `${JSON.stringify(excerpt(name))} appears twice`);
      if (name === "__proto__") throw this.#error("forbidden_member", '"__proto__" is not allowed');
      if (!this.#consume(COLON)) throw this.#unexpected();
      object[name] = this.#value();
      this.#path.pop();
    } while (this.#consume(COMMA));
    if (!this.#consume(CLOSE_BRACE)) throw this.#unexpected();
    return object;
  }

  #array(): JsonValue {
    const taken = this.#limits.takeArray?.(this.#text, this.#offset, this.#path);
    if (taken) {
      this.#offset = taken.end;
      return taken.value as JsonValue;
    }
    this.#enter();
    const array: JsonValue[] = [];
    if (this.#consume(CLOSE_BRACKET)) return array;
    do {
      this.#step(array.length);
      array.push(this.#value());
      this.#path.pop();
    } while (this.#consume(COMMA));
    if (!this.#consume(CLOSE_BRACKET)) throw this.#unexpected();
    return array;
  }

  /** Steps over the bracket. The path has one element for each surrounding container. */
  #enter(): void {
    const { maxDepth } = this.#limits;
    if (this.#path.length >= maxDepth) throw this.#error("too_deep", `nested deeper than ${maxDepth}`);
    this.#offset++;
  }

  /** Counts a member, or an item, and steps to it. */
  #step(to: string | number): void {
    const { maxMembers } = this.#limits;
    if (++this.#members > maxMembers) throw this.#error("too_many", `more than ${maxMembers} members and items`);
    this.#path.push(to);
  }

  #string(): string {
    const start = this.#offset + 1;
    let end = this.#text.indexOf('"', start);
    while (end !== -1 && this.#isEscaped(end, start)) end = this.#text.indexOf('"', end + 1);
    if (end === -1) throw this.#error("syntax", "a string has no end");
    let string = this.#text.slice(start, end);
    if (string.length > MAX_TESTED || NEEDS_UNESCAPING.test(string)) string = this.#unescape(start - 1, end + 1);
    if (!string.isWellFormed()) throw this.#error("lone_surrogate", "a string has half a surrogate pair");
    this.#offset = end + 1;
    return string;
  }

  /** Whether an odd number of backslashes precedes the character. */
  #isEscaped(at: number, start: number): boolean {
    let before = at;
    while (before > start && this.#text[before - 1] === "\\") before--;
    return (at - before) % 2 === 1;
  }

  #unescape(start: number, end: number): string {
    try {
      return JSON.parse(this.#text.slice(start, end));
    } catch {
      throw this.#error("syntax", "a string has a bad escape or a control character");
    }
  }

  #number(): number {
    NUMBER.lastIndex = this.#offset;
    const digits = NUMBER.exec(this.#text)?.[0];
    if (digits === undefined) throw this.#unexpected();
    const number = Number(digits);
    // Parsers differ on numbers of 2^53 and more.
    if (Math.abs(number) > Number.MAX_SAFE_INTEGER)
      throw this.#error("unsafe_integer", `${excerpt(digits)} is too large`);
    if (!this.#limits.allowFractions && !Number.isInteger(number))
      throw this.#error("number_spelling", `${excerpt(digits)} is not an integer`);
    const spelled = this.#limits.allowPointZero && digits.endsWith(".0") ? digits.slice(0, -2) : digits;
    if (spelled !== String(number))
      throw this.#error("number_spelling", `${excerpt(digits)} must be spelled ${number}`);
    this.#offset = NUMBER.lastIndex;
    return number;
  }

  #literal<T>(word: string, value: T): T {
    if (!this.#text.startsWith(word, this.#offset)) throw this.#unexpected();
    this.#offset += word.length;
    return value;
  }

  #consume(character: number): boolean {
    this.#skipSpace();
    if (this.#text.charCodeAt(this.#offset) !== character) return false;
    this.#offset++;
    return true;
  }

  #skipSpace(): void {
    for (; ; this.#offset++) {
      const character = this.#text.charCodeAt(this.#offset);
      if (character !== 0x20 && character !== 0x0a && character !== 0x0d && character !== 0x09) return;
    }
  }

  #unexpected(): ProofError {
    const found = this.#text.codePointAt(this.#offset);
    return this.#error(
      "syntax",
      found === undefined
        ? "the text ends too early"
        : `${JSON.stringify(String.fromCodePoint(found))} is out of place`,
    );
  }

  #error(fault: JsonFault, reason: string): ProofError {
    let line = 1;
    for (let at = this.#text.indexOf("\n"); at !== -1 && at < this.#offset; at = this.#text.indexOf("\n", at + 1))
      line++;
    return refusal(fault, reason, line, this.#path.reduce<string>(childPointer, ""));
  }
}
