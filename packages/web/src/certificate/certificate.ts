import { type Bundle, equalBytes, type KeyHistory, parseBundle, parseJson, utf8 } from "@attestd/proof";
import { hostOf, printable } from "../printable.ts";
import { doubt, type Judged, signer } from "../verdict.ts";
import { WORDS_OF_CERTIFICATE } from "../words.ts";
import { certificateContents } from "./contents.ts";
import { layOut } from "./layout.ts";
import { BASES, type CertificateJudgement, entryOf, LAYOUT, type Making, readMaking, writeMaking } from "./making.ts";
import type { Paper } from "./paper.ts";
import { toPdf } from "./pdf.ts";
import { toSvg } from "./svg.ts";

/** A certificate is made of verified bundles only. */
export class NotVerified extends Error {
  override readonly name = "NotVerified";
}

/**
 * What the certificate of a bundle says beyond it.
 * @param checkedAt when it was verified
 * @throws NotVerified for a bundle that is not, by a key of which no origin is known, or by a list that is contradicted
 */
export function makingOf(judged: Judged, checkedAt: Date, paper: Paper): Making {
  const { report, keys, comparedBy } = judged;
  const { status } = report.attestor;
  const basis = BASES.find((one) => one === keys?.basis.basis);
  if (!report.verified || !signer(judged) || !keys || basis === undefined || status === "unknown")
    throw new NotVerified("Only a verified bundle, by a key of a key history, has a certificate.");
  if (doubt(judged)) throw new NotVerified("Its key list is contradicted by another one of the same host.");
  const { recordedAt } = report;
  const isCompared = report.checks.chainAttest === "pass" && comparedBy !== undefined;
  const { since } = keys.basis;
  return {
    layout: LAYOUT,
    paper,
    checkedOn: dayOf(checkedAt.getTime()),
    keys: { basis, ...(since !== undefined && { date: dayOf(since) }) },
    status,
    site: keys.history.keys.at(-1)?.origin ?? "",
    ...(isCompared && { ledger: { askedOf: comparedBy, ...(recordedAt !== undefined && { recordedAt }) } }),
  };
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

export type CertificateFormat = "pdf" | "svg";

/** A certificate, and what stands on top of it. */
export type Certificate = { bytes: Uint8Array<ArrayBuffer>; title: string; isStamped: boolean };

/**
 * Makes the certificate of a bundle. The same arguments give the same bytes, on every machine.
 * @param bytes UTF-8 of the bundle's JSON, as it is to be carried
 * @param history that has the key which signed it
 * @throws RangeError where its words would be too long for a certificate
 */
export function makeCertificate(
  format: CertificateFormat,
  bytes: Uint8Array,
  history: KeyHistory,
  making: Making,
): Certificate {
  const bundle = parseBundle(parseJson(bytes));
  const entry = entryOf(bundle, history);
  if (entry === undefined) throw new RangeError("the history has no such key");
  const contents = certificateContents(bundle, entry, making);
  const sheet = layOut(contents, making.paper);
  const title = `Certificate of attestation: ${contents.title}`;
  const carried = { bundle: bytes, making: writeMaking(making), title };
  const made = format === "pdf" ? toPdf(sheet, carried, making.checkedOn) : utf8(toSvg(sheet, carried));
  return { bytes: Uint8Array.from(made), title: contents.title, isStamped: contents.stamp !== undefined };
}

/** A certificate as a file has it. */
export type GivenCertificate = {
  format: CertificateFormat;
  /** The whole file. */
  file: Uint8Array;
  /** What it says of its making; undefined where it says nothing. */
  making: Uint8Array | undefined;
};

/**
 * Makes a certificate again of what it carries, and compares, byte for byte. What the maker alone knew, as the day, is
 * taken from the certificate itself, and remains the maker's word.
 * @param bundle UTF-8 of the bundle that it carries
 * @param history that is believed
 */
export function judgeCertificate(
  given: GivenCertificate,
  bundle: Uint8Array,
  history: KeyHistory | undefined,
): CertificateJudgement {
  const making: ReturnType<typeof readMaking> =
    given.making === undefined ? { isOtherLayout: false } : readMaking(given.making);
  if ("isOtherLayout" in making)
    return making.isOtherLayout ? notCompared(WORDS_OF_CERTIFICATE.otherLayout) : { words: "fail" };
  if (history === undefined || !isSignedByOneOf(history, bundle)) return notCompared(WORDS_OF_CERTIFICATE.noName);
  if (!history.keys.some(({ origin }) => origin === making.site))
    return notCompared(WORDS_OF_CERTIFICATE.otherSite(hostOf(making.site)));
  const made = again(given.format, bundle, history, making);
  if (made === undefined) return { words: "fail" };
  return equalBytes(made, given.file) ? { words: "pass", making } : { words: "fail", ...difference(given.file, made) };
}

function notCompared(why: string): CertificateJudgement {
  return { words: "not_checked", why };
}

function isSignedByOneOf(history: KeyHistory, bytes: Uint8Array): boolean {
  let bundle: Bundle;
  try {
    bundle = parseBundle(parseJson(bytes));
  } catch {
    return false;
  }
  return entryOf(bundle, history) !== undefined;
}

function again(
  format: CertificateFormat,
  bundle: Uint8Array,
  history: KeyHistory,
  making: Making,
): Uint8Array | undefined {
  try {
    return makeCertificate(format, bundle, history, making).bytes;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

const LONGEST_DIFFERENCE = 60;

/** The words in which a certificate first differs from the one that its bundle makes, where there are such. */
function difference(file: Uint8Array, made: Uint8Array): { stated?: string; computed?: string } {
  let place = 0;
  while (place < Math.min(file.length, made.length) && file[place] === made[place]) place++;
  const [stated, computed] = [file, made].map((bytes) => wordsAt(bytes, place));
  return stated && computed && stated !== computed ? { stated, computed } : {};
}

/** The text at a place: between the tags of an SVG, between the brackets of a PDF. */
function wordsAt(bytes: Uint8Array, place: number): string | undefined {
  const latin1 = (from: number, to: number) => new TextDecoder("latin1").decode(bytes.subarray(Math.max(0, from), to));
  const before = /[^<>()\n]*$/.exec(latin1(place - LONGEST_DIFFERENCE, place))?.[0] ?? "";
  const after = /^[^<>()\n]*/.exec(latin1(place, place + LONGEST_DIFFERENCE))?.[0] ?? "";
  const words = before + after;
  return /^[\x20-\x7e]{1,120}$/.test(words) ? printable(words) : undefined;
}
