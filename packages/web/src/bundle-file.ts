import { fromUtf8, type JsonValue, parseJson, utf8 } from "@attestd/proof";
import { pdfAttachments } from "./pdf/attachments.ts";

/** What a file turned out to hold. */
export type FileContents =
  /**
   * JSON of a bundle, as far as its form goes, in UTF-8: as the file has it, or as a certificate carries it. `making` is
   * what a certificate carries beside it, not yet read.
   */
  | { kind: "bundle"; bytes: Uint8Array; from: "json" | "pdf" | "svg"; making?: Uint8Array }
  /** JSON of a key history, not yet read. */
  | { kind: "keys"; value: JsonValue }
  /** A certificate without a bundle in it. */
  | { kind: "empty_certificate" }
  | { kind: "other" };

export type BundleInFile = Extract<FileContents, { kind: "bundle" }>;

/** A bundle has at most 2 MiB; a certificate carries one, and little more. */
export const LARGEST_BUNDLE = 2 ** 21;
export const LARGEST_FILE = 3 * 2 ** 20;

/** Ids of the SVG elements whose texts are the bundle, and what the certificate says beyond it. */
export const SVG_BUNDLE_ID = "attestd-bundle";
export const SVG_MAKING_ID = "attestd-certificate";
const CARRIERS = [SVG_BUNDLE_ID, SVG_MAKING_ID];
const METADATA = "<metadata";
/** A certificate carries one; what else there is, is not looked through without end. */
const MOST_CARRIED = 16;

/**
 * Finds the bundle in a file: the file itself, a PDF's attachment, or an SVG's metadata.
 * @throws JsonError for a file that is neither a certificate nor JSON
 */
export async function readFileContents(bytes: Uint8Array): Promise<FileContents> {
  if (startsWith(bytes, "%PDF-")) return certificate(await pdfAttachments(bytes, LARGEST_BUNDLE), "pdf");
  const text = looseText(bytes);
  if (/^\s*<(\?xml|svg|!DOCTYPE svg)/i.test(text)) return certificate(svgMetadata(text), "svg");
  return jsonContents(bytes, "json") as FileContents;
}

function certificate(carried: Uint8Array[], from: "pdf" | "svg"): FileContents {
  const found = carried.flatMap((bytes) => {
    try {
      return [jsonContents(bytes, from)];
    } catch {
      // Another attachment, which is none of ours.
      return [];
    }
  });
  const making = found.find(({ kind }) => kind === "making");
  const bundle = found.find(({ kind }) => kind === "bundle");
  if (bundle?.kind !== "bundle") return { kind: "empty_certificate" };
  return making?.kind === "making" ? { ...bundle, making: making.bytes } : bundle;
}

/** What a certificate says of its making, not yet read. */
type Making = { kind: "making"; bytes: Uint8Array };

/** @throws JsonError */
function jsonContents(bytes: Uint8Array, from: "json" | "pdf" | "svg"): FileContents | Making {
  let value: JsonValue;
  try {
    value = parseJson(bytes, { maxSize: LARGEST_BUNDLE });
  } catch (error) {
    // What several readers would read differently is for the verifier to refuse, by name.
    if ((error as { isAmbiguous?: boolean }).isAmbiguous) return { kind: "bundle", bytes, from };
    throw error;
  }
  const has = (member: string) => typeof value === "object" && value !== null && Object.hasOwn(value, member);
  if (from !== "json" && has("layout")) return { kind: "making", bytes };
  if (has("keys") && has("ledger")) return { kind: "keys", value };
  const parts = ["source", "block", "attest", "attestor", "signature"];
  return parts.some(has) ? { kind: "bundle", bytes, from } : { kind: "other" };
}

/** The text of the elements that carry something of ours; goes on from where the one before ended, so that nothing is read twice. */
function svgMetadata(text: string): Uint8Array[] {
  const carried: Uint8Array[] = [];
  for (let at = text.indexOf(METADATA); at !== -1 && carried.length < MOST_CARRIED; at = text.indexOf(METADATA, at)) {
    const open = text.indexOf(">", at);
    const close = open === -1 ? -1 : text.indexOf("<", open);
    if (close === -1) break;
    const attributes = text.slice(at + METADATA.length, open).split(/[\s/]/);
    if (CARRIERS.some((id) => attributes.includes(`id="${id}"`)) && text.startsWith("</metadata>", close))
      carried.push(utf8(unescapeXml(text.slice(open + 1, close))));
    at = close;
  }
  return carried;
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
