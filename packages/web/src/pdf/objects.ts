/**
 * The PDF values (ISO 32000-1, 7.3) that a reader of attachments needs. Strings are not needed: they are read as null.
 */
export type PdfValue = number | boolean | null | PdfName | PdfReference | PdfValue[] | PdfDictionary;
type PdfName = { name: string };
type PdfReference = { object: number };
export type PdfDictionary = Map<string, PdfValue>;

/** A depth of nesting that no program reaches. */
const MAX_DEPTH = 32;
/** White space, or a comment. */
const WHITE = /[\0\t\n\f\r ]+|%[^\r\n]*/y;
const REGULAR = /[^\0\t\n\f\r ()<>[\]{}/%]*/y;
/** The end of a line, if there is one. */
const EOL = /\r\n|\n|\r|/y;
/** The rest of `12 0 R`, after the 12. Bounded lengths keep this fast for any text. */
const REFERENCE_TAIL = /[\0\t\n\f\r ]{1,16}\d{1,5}[\0\t\n\f\r ]{1,16}R(?![^\0\t\n\f\r ()<>[\]{}/%])/y;

/** The text at a position is not a value. */
export class NotPdf extends Error {}
/** One instance for all: creating a hundred thousand stack traces would take seconds. */
const NOT_PDF = new NotPdf();

/** Whether a value is this name. */
export function isName(value: PdfValue | undefined, name: string): boolean {
  return typeof value === "object" && value !== null && "name" in value && value.name === name;
}

/** Reads values one after another, each character once. */
export class PdfLexer {
  readonly text: string;
  position: number;

  /** @param text bytes as Latin-1 */
  constructor(text: string, position: number) {
    this.text = text;
    this.position = position;
  }

  /** @throws NotPdf with `position` where reading stopped */
  value(depth = 0): PdfValue {
    this.skipWhite();
    if (this.text[this.position] === undefined || depth > MAX_DEPTH) throw NOT_PDF;
    if (this.take("<<")) return this.#dictionary(depth);
    if (this.take("[")) return this.#array(depth);
    if (this.take("(")) return this.#literal();
    if (this.take("<")) return this.#hexadecimal();
    if (this.take("/")) return { name: this.#regular().replace(/#[0-9A-Fa-f]{2}/g, fromHexPair) };
    return this.#word();
  }

  /** Skips white space and comments. */
  skipWhite(): void {
    while (this.match(WHITE) !== undefined);
  }

  /** Skips `expected` if it comes next. @returns whether it did */
  take(expected: string): boolean {
    if (!this.text.startsWith(expected, this.position)) return false;
    this.position += expected.length;
    return true;
  }

  /**
   * Skips what comes next, if it has this form. @param form sticky @returns the skipped text; undefined if it has
   * another form
   */
  match(form: RegExp): string | undefined {
    form.lastIndex = this.position;
    const found = form.exec(this.text)?.[0];
    this.position += found?.length ?? 0;
    return found;
  }

  #dictionary(depth: number): PdfDictionary {
    const members: PdfDictionary = new Map();
    for (;;) {
      this.skipWhite();
      if (this.take(">>")) return members;
      if (this.text[this.position] !== "/") throw NOT_PDF;
      const key = this.value(depth + 1) as PdfName;
      members.set(key.name, this.value(depth + 1));
    }
  }

  #array(depth: number): PdfValue[] {
    const items: PdfValue[] = [];
    for (;;) {
      this.skipWhite();
      if (this.take("]")) return items;
      items.push(this.value(depth + 1));
    }
  }

  #literal(): null {
    for (let open = 1; this.position < this.text.length; this.position++) {
      const character = this.text[this.position];
      if (character === "\\") this.position++;
      else if (character === "(") open++;
      else if (character === ")" && --open === 0) {
        this.position++;
        return null;
      }
    }
    throw NOT_PDF;
  }

  #hexadecimal(): null {
    const end = this.text.indexOf(">", this.position);
    this.position = end === -1 ? this.text.length : end + 1;
    if (end === -1) throw NOT_PDF;
    return null;
  }

  #word(): PdfValue {
    const word = this.#regular();
    if (word === "true" || word === "false") return word === "true";
    if (word === "null") return null;
    if (!/^[+-]?(\d{1,15}\.?|\d{0,15}\.\d{1,15})$/.test(word)) throw NOT_PDF;
    if (/^\d{1,10}$/.test(word) && this.match(REFERENCE_TAIL) !== undefined) return { object: Number(word) };
    return Number(word);
  }

  #regular(): string {
    return this.match(REGULAR) ?? "";
  }
}

function fromHexPair(escaped: string): string {
  return String.fromCharCode(Number.parseInt(escaped.slice(1), 16));
}

/** An indirect object of a file; for a stream with the range of its encoded bytes. */
export type PdfObject = { number: number; value: PdfValue; stream?: { start: number; end: number } | undefined };

/** The objects and trailers of a file in order. If two objects have one number, the later one counts. */
export type PdfFile = { objects: PdfObject[]; trailers: PdfDictionary[] };

/** `12 0 ` before `obj`. */
const HEADER = /(?:^|[^0-9])(\d{1,10})[\0\t\n\f\r ]{1,16}\d{1,5}[\0\t\n\f\r ]{1,16}$/;
const MAX_HEADER_LENGTH = 64;
const KEYWORD = /obj|trailer/g;
const END = "endstream";
/** Stops the reading of a hostile file: a certificate has some twenty objects. */
const MAX_OBJECTS = 2 ** 15;

/**
 * Finds the objects of a PDF by scanning the whole file, so that a damaged cross-reference table hides nothing. It
 * reads each character a bounded number of times.
 * @param text the file's bytes as Latin-1
 */
export function scanPdf(text: string): PdfFile {
  // A stream's length may be in a later object: the first scan finds these objects, the second one uses them.
  const lengths = new Map<number, number>();
  for (const { number, value } of scan(text, new Map()).objects)
    if (typeof value === "number") lengths.set(number, value);
  return scan(text, lengths);
}

function scan(text: string, lengths: ReadonlyMap<number, number>): PdfFile {
  const file: PdfFile = { objects: [], trailers: [] };
  const keyword = new RegExp(KEYWORD);
  for (let tries = 0, found = keyword.exec(text); found && tries < MAX_OBJECTS; found = keyword.exec(text), tries++) {
    const before = text.slice(Math.max(0, found.index - MAX_HEADER_LENGTH), found.index);
    const number = found[0] === "obj" ? HEADER.exec(before)?.[1] : undefined;
    if (found[0] === "obj" && number === undefined) continue;
    const lexer = new PdfLexer(text, keyword.lastIndex);
    try {
      const value = lexer.value();
      if (number === undefined) {
        if (value instanceof Map) file.trailers.push(value);
      } else {
        const stream = value instanceof Map ? streamAfter(lexer, lengthOf(value, lengths)) : undefined;
        file.objects.push({ number: Number(number), value, stream });
        if (stream && value instanceof Map && isName(value.get("Type"), "XRef")) file.trailers.push(value);
      }
    } catch (error) {
      if (!(error instanceof NotPdf)) throw error;
    }
    // What was read is not read again, even if it was not an object.
    keyword.lastIndex = Math.max(keyword.lastIndex, lexer.position);
  }
  return file;
}

function lengthOf(dictionary: PdfDictionary, lengths: ReadonlyMap<number, number>): number | undefined {
  const length = dictionary.get("Length");
  if (typeof length === "object" && length !== null && "object" in length) return lengths.get(length.object);
  return typeof length === "number" ? length : undefined;
}

/**
 * Returns the range of a stream's bytes, if a stream follows. A length that does not lead to `endstream` is ignored.
 */
function streamAfter(lexer: PdfLexer, length: number | undefined): PdfObject["stream"] {
  lexer.skipWhite();
  if (!lexer.take("stream")) return undefined;
  lexer.match(EOL);
  const { text, position: start } = lexer;
  if (length !== undefined && length >= 0) {
    const after = new PdfLexer(text, start + length);
    after.match(EOL);
    if (after.take(END)) {
      lexer.position = after.position;
      return { start, end: start + length };
    }
  }
  const end = text.indexOf(END, start);
  lexer.position = end === -1 ? text.length : end + END.length;
  if (end === -1) throw NOT_PDF;
  const [eol = ""] = /(?:\r\n|\n|\r)?$/.exec(text.slice(Math.max(start, end - 2), end)) ?? [];
  return { start, end: end - eol.length };
}
