import { MAX_BATCH_BYTES, MAX_BUNDLE_BYTES, parseJson } from "@attestd/proof";
import { fileText, utf8 } from "@attestd/proof/encoding";
import { attempt, isProofError } from "@attestd/proof/errors";
import type { JsonValue } from "@attestd/proof/json";
import { pdfAttachments } from "./pdf/attachments.ts";
import { memberOf, receiptIn } from "./receipt-file.ts";
import { UNREADABLE } from "./words.ts";

type CertificateParts = { making?: Uint8Array | undefined; evidence?: Uint8Array | undefined };

export type FileContents =
  /**
   * UTF-8 JSON with a part of a bundle: the file itself, including a byte order mark, or a certificate's. `making` and
   * `evidence` are the other parts of a certificate, not yet parsed.
   */
  | ({ kind: "bundle"; bytes: Uint8Array; from: "json" | "pdf" | "svg" } & CertificateParts)
  /** A whole batch's answer, not yet parsed. */
  | ({ kind: "batch"; bytes: Uint8Array; from: "json" | "pdf" | "svg" } & CertificateParts)
  /** JSON of a key history, not yet validated. */
  | { kind: "keys"; value: JsonValue }
  /** A payment's receipt, not yet verified: a compact JWS. */
  | { kind: "receipt"; jws: string }
  /** A bundle's evidence, not yet read. `of`: the SHA-256 of the bundle that it names, lower-case hex. */
  | { kind: "evidence"; bytes: Uint8Array; of: string }
  /** JSON of a checkpoint, or of a service's published checkpoint table; not yet validated. */
  | { kind: "checkpoint"; value: JsonValue }
  /** A certificate that cannot be read. `why`: a sentence. */
  | { kind: "broken"; why: string }
  | { kind: "other" };

export type BundleInFile = Extract<FileContents, { kind: "bundle" }>;
export type BatchInFile = Extract<FileContents, { kind: "batch" }>;

/** The size limit of a file with one bundle, in bytes. */
export const MAX_FILE_BYTES = MAX_BUNDLE_BYTES + 2 ** 20;

/** The size limit of a file, including evidence, in bytes. */
export const MAX_GIVEN_BYTES = 9 * 2 ** 20;

/** The size limit of one bundle's certificate, including its evidence, in bytes. */
const MAX_CERTIFICATE_BYTES = MAX_FILE_BYTES + MAX_GIVEN_BYTES + 2 ** 20;

/** Returns the size limit for a file with these contents, in bytes. */
export function maxBytesOf(contents: FileContents): number {
  return contents.kind === "bundle" && contents.from !== "json" ? MAX_CERTIFICATE_BYTES : MAX_FILE_BYTES;
}

/**
 * The size limit of a file with a whole batch, in bytes: a certificate adds a table, and SVG escapes characters as
 * entities.
 */
export const MAX_BATCH_FILE_BYTES = MAX_BATCH_BYTES + 2 ** 23;

/** Ids of the SVG elements that hold the bundle, the certificate's making, and the evidence. */
export const SVG_BUNDLE_ID = "attestd-bundle";
export const SVG_MAKING_ID = "attestd-certificate";
export const SVG_EVIDENCE_ID = "attestd-evidence";
const CARRIERS = [SVG_BUNDLE_ID, SVG_MAKING_ID, SVG_EVIDENCE_ID];
const METADATA = "<metadata";
/** A certificate holds three. The limit stops the reading of a hostile file. */
const MAX_CARRIED = 16;

/** A text that every batch bundle contains. */
const BATCH_MARK = "batch-attestation";

/**
 * Returns the form in which a text claims to be a batch: one JSON value with the head, or one bundle per line;
 * undefined for neither.
 */
export function batchForm(text: string): "json" | "lines" | undefined {
  if (!text.includes(BATCH_MARK)) return undefined;
  const lines = text.trimEnd().split(/\r?\n/);
  const isBundle = (line: string) => line.startsWith("{") && line.endsWith("}") && line.includes(BATCH_MARK);
  if (lines.length > 1 && lines.every(isBundle)) return "lines";
  return /"items"\s*:\s*\[/.test(text) ? "json" : undefined;
}

const PDF_HEADER = "%PDF-";
/** PDF readers search for the header in the first bytes, this many (ISO 32000-1, annex H, note 13). */
const MAX_BEFORE_PDF = 1024;

/**
 * Finds the bundle or the batch in a file: the file itself, a PDF's attachment, or an SVG's metadata.
 * @throws ProofError `json` for a file that is neither a certificate nor JSON
 */
export async function readFileContents(bytes: Uint8Array): Promise<FileContents> {
  const before = new TextDecoder("latin1").decode(bytes.subarray(0, MAX_BEFORE_PDF)).indexOf(PDF_HEADER);
  if (before === 0) return pdfContents(bytes);
  try {
    return textContents(bytes);
  } catch (error) {
    // Text may also contain a PDF's header.
    if (before > 0 && isProofError(error, "json")) return { kind: "broken", why: UNREADABLE.beforePdf(before) };
    throw error;
  }
}

async function pdfContents(bytes: Uint8Array): Promise<FileContents> {
  const attachments = await pdfAttachments(bytes);
  return attachments === "encrypted"
    ? { kind: "broken", why: UNREADABLE.encryptedPdf }
    : certificate(attachments, "pdf");
}

/** @throws ProofError `json` */
function textContents(bytes: Uint8Array): FileContents {
  const text = looseText(bytes);
  if (/^\s*<(\?xml|svg|!DOCTYPE svg)/i.test(text)) return certificate(svgMetadata(text), "svg");
  if (batchForm(text) && bytes.length <= MAX_BATCH_BYTES) return { kind: "batch", bytes, from: "json" };
  return jsonContents(bytes, "json") as FileContents;
}

function certificate(carried: Uint8Array[], from: "pdf" | "svg"): FileContents {
  const found = carried.flatMap((bytes): ReturnType<typeof jsonContents>[] => {
    try {
      return [batchForm(looseText(bytes)) ? { kind: "batch", bytes, from } : jsonContents(bytes, from)];
    } catch {
      // A PDF may have other attachments.
      return [];
    }
  });
  const making = found.find((one) => one.kind === "making");
  const evidence = found.find((one) => one.kind === "evidence");
  const certified = found.find((one) => one.kind === "bundle" || one.kind === "batch");
  if (certified === undefined) return { kind: "broken", why: UNREADABLE.noBundleInside };
  return { ...certified, making: making?.bytes, evidence: evidence?.bytes };
}

/** @throws ProofError `json` */
function jsonContents(
  bytes: Uint8Array,
  from: "json" | "pdf" | "svg",
): FileContents | { kind: "making"; bytes: Uint8Array } {
  let value: JsonValue;
  try {
    value = parseJson(bytes, { maxSize: MAX_GIVEN_BYTES });
  } catch (error) {
    // The verifier rejects ambiguous JSON, and reports why.
    if ((error as { isAmbiguous?: boolean }).isAmbiguous) return { kind: "bundle", bytes, from };
    throw error;
  }
  const has = (name: string) => memberOf(value, name) !== undefined;
  /** Returns a member's text, or "" if it has none. */
  const textOf = (name: string) => {
    const member = memberOf(value, name);
    return typeof member === "string" ? member : "";
  };
  const format = textOf("format");
  const [, of] = /^sha256:([0-9a-f]{64})$/.exec(textOf("bundle")) ?? [];
  if (of !== undefined && format.startsWith("attestd.evidence/")) return { kind: "evidence", bytes, of };
  if (bytes.length > MAX_BUNDLE_BYTES) parseJson(bytes);
  if (format === "attestd.checkpoints/1" || (has("votersCommitment") && has("lnProvenWeight")))
    return { kind: "checkpoint", value };
  if (from !== "json" && has("layout")) return { kind: "making", bytes };
  const jws = from === "json" ? receiptIn(value) : undefined;
  if (jws !== undefined) return { kind: "receipt", jws };
  if (has("keys") && has("ledger")) return { kind: "keys", value };
  // A damaged bundle may lack some of these. `attestor` does not count: other files of attestd have it, too.
  const parts = ["source", "block", "attest", "signature"];
  return parts.some(has) ? { kind: "bundle", bytes, from } : { kind: "other" };
}

/**
 * Returns the text of our metadata elements. The search continues after each element, so that nothing is read twice.
 */
function svgMetadata(text: string): Uint8Array[] {
  const carried: Uint8Array[] = [];
  for (let at = text.indexOf(METADATA); at !== -1 && carried.length < MAX_CARRIED; at = text.indexOf(METADATA, at)) {
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

/** The five entities of XML 1.0, section 4.6. The writer uses no others. */
const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

const NAMES = new Map(Object.entries(ENTITIES).map(([name, character]) => [character, name]));

export function escapeXml(text: string): string {
  return text.replace(/[<>&"']/g, (character) => `&${NAMES.get(character)};`);
}

function unescapeXml(text: string): string {
  return text.replace(/&(lt|gt|amp|quot|apos);/g, (entity, name: string) => ENTITIES[name] ?? entity);
}

/** Decodes a file's text; "" if it is not UTF-8. */
export function looseText(bytes: Uint8Array): string {
  return attempt("malformed", () => fileText(bytes)) ?? "";
}
