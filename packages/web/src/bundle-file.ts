import { fromUtf8, type JsonValue, parseJson, utf8 } from "@attestd/proof";

/** What a file turned out to hold. */
export type FileContents =
  /** JSON of a bundle, as far as its form goes, in UTF-8: as the file has it, or as a certificate carries it. */
  | { kind: "bundle"; bytes: Uint8Array; from: "json" | "pdf" | "svg" }
  /** JSON of a key history, not yet read. */
  | { kind: "keys"; value: JsonValue }
  /** A certificate without a bundle in it. */
  | { kind: "empty_certificate" }
  | { kind: "other" };

/** A bundle has at most 2 MiB; a certificate carries one, and little more. */
export const LARGEST_BUNDLE = 2 ** 21;
export const LARGEST_FILE = 3 * 2 ** 20;

/** Id of the SVG element whose text is the bundle. */
export const SVG_METADATA_ID = "attestd-bundle";

/**
 * Finds the bundle in a file: the file itself, a PDF's attachment, or an SVG's metadata.
 * @throws JsonError for a file that is neither a certificate nor JSON
 */
export async function readFileContents(bytes: Uint8Array): Promise<FileContents> {
  if (startsWith(bytes, "%PDF-")) return certificate(await pdfAttachments(bytes), "pdf");
  const text = looseText(bytes);
  if (/^\s*<(\?xml|svg|!DOCTYPE svg)/i.test(text)) return certificate(svgMetadata(text), "svg");
  return jsonContents(bytes, "json");
}

function certificate(carried: Uint8Array[], from: "pdf" | "svg"): FileContents {
  for (const bytes of carried) {
    try {
      const contents = jsonContents(bytes, from);
      if (contents.kind === "bundle") return contents;
    } catch {
      // Another attachment, which is none of ours.
    }
  }
  return { kind: "empty_certificate" };
}

/** @throws JsonError */
function jsonContents(bytes: Uint8Array, from: "json" | "pdf" | "svg"): FileContents {
  let value: JsonValue;
  try {
    value = parseJson(bytes, { maxSize: LARGEST_BUNDLE });
  } catch (error) {
    // What several readers would read differently is for the verifier to refuse, by name.
    if ((error as { isAmbiguous?: boolean }).isAmbiguous) return { kind: "bundle", bytes, from };
    throw error;
  }
  const has = (member: string) => typeof value === "object" && value !== null && Object.hasOwn(value, member);
  if (has("keys") && has("ledger")) return { kind: "keys", value };
  const parts = ["source", "block", "attest", "attestor", "signature"];
  return parts.some(has) ? { kind: "bundle", bytes, from } : { kind: "other" };
}

function svgMetadata(text: string): Uint8Array[] {
  const element = new RegExp(`<metadata\\b[^>]*\\bid="${SVG_METADATA_ID}"[^>]*>([^<]*)</metadata>`).exec(text);
  return element?.[1] === undefined ? [] : [utf8(unescapeXml(element[1]))];
}

/** The five entities of XML 1.0, section 4.6, and nothing else: the writer uses no others. */
const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

const NAMES = new Map(Object.entries(ENTITIES).map(([name, character]) => [character, name]));

export function escapeXml(text: string): string {
  return text.replace(/[<>&"']/g, (character) => `&${NAMES.get(character)};`);
}

function unescapeXml(text: string): string {
  return text.replace(/&(lt|gt|amp|quot|apos);/g, (entity, name: string) => ENTITIES[name] ?? entity);
}

/**
 * The contents of embedded files (ISO 32000-1, 7.11.4), plain or deflated. Streams lie open in every PDF that is not
 * encrypted, so that no cross-reference table has to be read.
 */
async function pdfAttachments(bytes: Uint8Array): Promise<Uint8Array[]> {
  const text = latin1(bytes);
  const found: Uint8Array[] = [];
  for (const match of text.matchAll(/\/EmbeddedFile\b/g)) {
    const begin = text.indexOf("stream", match.index);
    const dictionary = text.slice(text.lastIndexOf(" obj", match.index), begin);
    const end = text.indexOf("endstream", begin);
    if (begin === -1 || end === -1 || dictionary.includes("endobj")) continue;
    const start = begin + "stream".length + (text.startsWith("\r\n", begin + "stream".length) ? 2 : 1);
    const stated = /\/Length (\d+)(?! \d+ R)/.exec(dictionary)?.[1];
    const stream = bytes.subarray(start, stated === undefined ? end : start + Number(stated));
    const content = dictionary.includes("/FlateDecode") ? await inflate(stream) : stream;
    if (content !== undefined) found.push(content);
  }
  return found;
}

/** @returns undefined for what is not zlib, or larger than any bundle */
async function inflate(bytes: Uint8Array): Promise<Uint8Array | undefined> {
  const inflated = new Blob([bytes.slice()]).stream().pipeThrough(new DecompressionStream("deflate"));
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for (const reader = inflated.getReader(); ; ) {
      const { done, value } = await reader.read();
      if (done) break;
      size += value.length;
      if (size > LARGEST_BUNDLE) return undefined;
      chunks.push(value);
    }
  } catch {
    return undefined;
  }
  const whole = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    whole.set(chunk, offset);
    offset += chunk.length;
  }
  return whole;
}

function startsWith(bytes: Uint8Array, text: string): boolean {
  return latin1(bytes.subarray(0, text.length)) === text;
}

function latin1(bytes: Uint8Array): string {
  return new TextDecoder("latin1").decode(bytes);
}

function looseText(bytes: Uint8Array): string {
  try {
    return fromUtf8(bytes);
  } catch {
    return "";
  }
}
