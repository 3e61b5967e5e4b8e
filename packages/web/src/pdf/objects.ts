import { NOT_PDF, NotPdf, type PdfDictionary, PdfLexer, type PdfValue } from "./values.ts";

/** An indirect object of a file; for a stream with the range of its encoded bytes. */
export type PdfObject = { number: number; value: PdfValue; stream?: { start: number; end: number } };

/** The result of scanning a file, in file order: of two objects with one number the later one counts. */
export type PdfFile = { objects: PdfObject[]; trailers: PdfDictionary[] };

/** `12 0 ` before `obj`. */
const HEADER = /(?:^|[^0-9])(\d{1,10})[\0\t\n\f\r ]{1,16}\d{1,5}[\0\t\n\f\r ]{1,16}$/;
const MAX_HEADER_LENGTH = 64;
const KEYWORD = /obj|trailer/g;
const END = "endstream";
/** Later objects are not read: a certificate has some twenty. */
const MAX_OBJECTS = 2 ** 15;

/**
 * Finds the objects of a PDF by scanning the whole file, so that a damaged cross-reference table hides nothing. Reads
 * each character a bounded number of times.
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
        file.objects.push({ number: Number(number), value, ...(stream && { stream }) });
        if (stream && value instanceof Map && isNamed(value, "Type", "XRef")) file.trailers.push(value);
      }
    } catch (error) {
      if (!(error instanceof NotPdf)) throw error;
    }
    // What was read is not read again, even if it was not an object.
    keyword.lastIndex = Math.max(keyword.lastIndex, lexer.position);
  }
  return file;
}

/** Whether a member of a dictionary is this name. */
export function isNamed(dictionary: PdfDictionary, member: string, name: string): boolean {
  const value = dictionary.get(member);
  return typeof value === "object" && value !== null && "name" in value && value.name === name;
}

function lengthOf(dictionary: PdfDictionary, lengths: ReadonlyMap<number, number>): number | undefined {
  const length = dictionary.get("Length");
  if (typeof length === "object" && length !== null && "object" in length) return lengths.get(length.object);
  return typeof length === "number" ? length : undefined;
}

/** The range of a stream's bytes, if a stream follows. A length that does not lead to `endstream` is ignored. */
function streamAfter(lexer: PdfLexer, length: number | undefined): PdfObject["stream"] {
  lexer.skipWhite();
  if (!lexer.take("stream")) return undefined;
  if (!lexer.take("\r\n") && !lexer.take("\n")) lexer.take("\r");
  const { text, position: start } = lexer;
  if (length !== undefined && length >= 0) {
    const after = new PdfLexer(text, start + length);
    if (!after.take("\r\n") && !after.take("\n")) after.take("\r");
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
