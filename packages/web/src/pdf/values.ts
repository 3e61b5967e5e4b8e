/** Values of PDF (ISO 32000-1, 7.3) that a reader of attachments needs. */
export type PdfValue = number | boolean | null | PdfName | PdfString | PdfReference | PdfValue[] | PdfDictionary;
export type PdfName = { name: string };
/** Bytes as Latin-1, escapes not decoded. */
export type PdfString = { string: string };
export type PdfReference = { object: number };
export type PdfDictionary = Map<string, PdfValue>;

/** No program nests values more deeply. */
const MAX_DEPTH = 32;
const WHITE = "\0\t\n\f\r ";
const DELIMITERS = "()<>[]{}/%";
/** The rest of `12 0 R`, after the 12. The bounded lengths keep this fast for any text. */
const REFERENCE_TAIL = /[\0\t\n\f\r ]{1,16}\d{1,5}[\0\t\n\f\r ]{1,16}R(?![^\0\t\n\f\r ()<>[\]{}/%])/y;

/** The text at a position is not a value. */
export class NotPdf extends Error {}
/** One instance for all: a hundred thousand stack traces would take seconds. */
export const NOT_PDF = new NotPdf();

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
    const character = this.text[this.position];
    if (character === undefined || depth > MAX_DEPTH) throw NOT_PDF;
    if (this.take("<<")) return this.#dictionary(depth);
    if (this.take("[")) return this.#array(depth);
    if (this.take("(")) return this.#literal();
    if (this.take("<")) return this.#hexadecimal();
    if (this.take("/")) return { name: this.#regular().replace(/#([0-9A-Fa-f]{2})/g, fromHexPair) };
    return this.#word();
  }

  /** Skips white space and comments. */
  skipWhite(): void {
    for (; this.position < this.text.length; this.position++) {
      const character = this.text[this.position] as string;
      if (character === "%") this.#skipLine();
      else if (!WHITE.includes(character)) return;
    }
  }

  /** Skips `expected` if it comes next. @returns whether it did */
  take(expected: string): boolean {
    if (!this.text.startsWith(expected, this.position)) return false;
    this.position += expected.length;
    return true;
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

  #literal(): PdfString {
    const start = this.position;
    for (let open = 1; this.position < this.text.length; this.position++) {
      const character = this.text[this.position];
      if (character === "\\") this.position++;
      else if (character === "(") open++;
      else if (character === ")" && --open === 0) return { string: this.text.slice(start, this.position++) };
    }
    throw NOT_PDF;
  }

  #hexadecimal(): PdfString {
    const start = this.position;
    const end = this.text.indexOf(">", start);
    this.position = end === -1 ? this.text.length : end + 1;
    if (end === -1) throw NOT_PDF;
    return { string: this.text.slice(start, end) };
  }

  #word(): PdfValue {
    const word = this.#regular();
    if (word === "true" || word === "false") return word === "true";
    if (word === "null") return null;
    if (!/^[+-]?(\d{1,15}\.?|\d{0,15}\.\d{1,15})$/.test(word)) throw NOT_PDF;
    if (/^\d{1,10}$/.test(word)) {
      REFERENCE_TAIL.lastIndex = this.position;
      if (REFERENCE_TAIL.test(this.text)) {
        this.position = REFERENCE_TAIL.lastIndex;
        return { object: Number(word) };
      }
    }
    return Number(word);
  }

  #regular(): string {
    const start = this.position;
    while (this.position < this.text.length && isRegular(this.text[this.position] as string)) this.position++;
    return this.text.slice(start, this.position);
  }

  #skipLine(): void {
    while (this.position < this.text.length && !"\r\n".includes(this.text[this.position] as string)) this.position++;
  }
}

function isRegular(character: string): boolean {
  return !WHITE.includes(character) && !DELIMITERS.includes(character);
}

function fromHexPair(_: string, digits: string): string {
  return String.fromCharCode(Number.parseInt(digits, 16));
}
