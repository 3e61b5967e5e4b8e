import { type Bundle, type KeyHistory, parseBundle, parseJson } from "@attestd/proof";
import { equalBytes, utf8 } from "@attestd/proof/encoding";
import { hostOf, printable } from "../printable.ts";
import { dayOf } from "../trust-basis.ts";
import { doubt, type Judged, signer } from "../verdict.ts";
import { WORDS_OF_CERTIFICATE } from "../words.ts";
import { certificateContents } from "./contents.ts";
import { layOut } from "./layout.ts";
import { BASES, type CertificateJudgement, entryOf, LAYOUT, type Making, readMaking, writeMaking } from "./making.ts";
import type { Paper } from "./paper.ts";
import { toPdf } from "./pdf.ts";
import { toSvg } from "./svg.ts";

/**
 * What the certificate of a bundle states beyond it.
 * @param checkedAt when it was verified
 * @throws TypeError for a bundle that is not verified by a key of a history, or by a list that is contradicted
 */
export function makingOf(judged: Judged, checkedAt: Date, paper: Paper): Making {
  const { report, keys, comparedBy } = judged;
  const { status } = report.attestor;
  const basis = BASES.find((one) => one === keys?.basis.basis);
  if (!report.verified || !signer(judged) || !keys || basis === undefined || status === "unknown")
    throw new TypeError("Only a verified bundle, by a key of a key history, has a certificate.");
  if (doubt(judged)) throw new TypeError("Its key list is contradicted by another one of the same host.");
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

export type CertificateFormat = "pdf" | "svg";

/** A certificate, and the title on it. */
export type Certificate = { bytes: Uint8Array<ArrayBuffer>; title: string; isStamped: boolean };

/**
 * Makes the certificate of a bundle. The same arguments give the same bytes, on every machine.
 * @param bytes UTF-8 of the bundle's JSON, which the certificate carries unchanged
 * @param history with the key that signed it
 * @throws RangeError when its text is too long for a certificate
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

/** A certificate in a file. */
export type GivenCertificate = {
  format: CertificateFormat;
  /** The whole file. */
  file: Uint8Array;
  /** Its stated making; undefined when it has none. */
  making: Uint8Array | undefined;
};

/**
 * Makes a certificate again from what it carries, and compares byte for byte. What only its maker knew, such as the day,
 * is taken from the certificate itself and stays unproven.
 * @param bundle UTF-8 of the bundle that it carries
 * @param history trusted
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

const MAX_DIFFERENCE = 60;

/** The text in which a certificate first differs from the one that its bundle gives, if it is text. */
function difference(file: Uint8Array, made: Uint8Array): { stated?: string; computed?: string } {
  let index = 0;
  while (index < Math.min(file.length, made.length) && file[index] === made[index]) index++;
  const [stated, computed] = [file, made].map((bytes) => textAt(bytes, index));
  return stated && computed && stated !== computed ? { stated, computed } : {};
}

/** The text around an index: between the tags of an SVG, between the brackets of a PDF. */
function textAt(bytes: Uint8Array, index: number): string | undefined {
  const latin1 = (from: number, to: number) => new TextDecoder("latin1").decode(bytes.subarray(Math.max(0, from), to));
  const before = /[^<>()\n]*$/.exec(latin1(index - MAX_DIFFERENCE, index))?.[0] ?? "";
  const after = /^[^<>()\n]*/.exec(latin1(index, index + MAX_DIFFERENCE))?.[0] ?? "";
  const words = before + after;
  return /^[\x20-\x7e]{1,120}$/.test(words) ? printable(words) : undefined;
}
