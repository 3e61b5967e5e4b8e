import {
  type BatchItem,
  type Bundle,
  itemBundles,
  type KeyHistory,
  parseBatch,
  parseBundle,
  verify,
} from "@attestd/proof";
import { equalBytes, utf8 } from "@attestd/proof/encoding";
import packageJson from "../../package.json" with { type: "json" };
import { type BatchInFile, type BundleInFile, batchForm, looseText } from "../bundle-file.ts";
import { hostOf, printable } from "../printable.ts";
import { statedBasis } from "../trust-basis.ts";
import { contradiction, type Judged, signer } from "../verdict.ts";
import { batchContents } from "./batch-contents.ts";
import { certificateContents } from "./contents.ts";
import { layOut } from "./layout.ts";
import {
  BASES,
  type CertificateJudgement,
  entryOf,
  LAYOUT,
  type Making,
  type Paper,
  readMaking,
  writeMaking,
} from "./making.ts";
import { toPdf } from "./pdf.ts";
import { toSvg } from "./svg.ts";

/**
 * Returns what a bundle's certificate states beyond the bundle.
 * @param checkedAt when it was verified
 * @throws TypeError for a bundle that is not verified by a history's key, or verified by a list that another
 *   contradicts
 */
export function makingOf(judged: Judged, checkedAt: Date, paper: Paper): Making {
  const { report, keys, comparedBy } = judged;
  const { status } = report.attestor;
  const basis = BASES.find((one) => one === keys?.basis.basis);
  if (!report.verified || !signer(judged) || !keys || basis === undefined || status === "unknown")
    throw new TypeError("Only a verified bundle, by a key of a key history, has a certificate.");
  if (contradiction(judged)) throw new TypeError("Its key list is contradicted by another one of the same host.");
  const isCompared = report.checks.chainAttest === "pass" && comparedBy !== undefined;
  return {
    layout: LAYOUT,
    paper,
    checkedAt: `${checkedAt.toISOString().slice(0, 19)}Z`,
    version: packageJson.version,
    keys: { basis, date: statedBasis(keys.basis).date },
    status,
    site: keys.history.keys.at(-1)?.origin ?? "",
    ledger: isCompared ? { askedOf: comparedBy, recordedAt: report.recordedAt } : undefined,
  };
}

export type CertificateFormat = "pdf" | "svg";

/**
 * Returns what a batch's certificate states beyond the batch.
 * @param items of one batch, all of them
 * @param checkedAt when they were verified
 * @throws TypeError as `makingOf` for each item, or when not all were compared with the ledger by the same service
 */
export function makingOfBatch(items: readonly Judged[], checkedAt: Date, paper: Paper): Making {
  const [first, ...others] = items.map((judged) => makingOf(judged, checkedAt, paper));
  if (first === undefined) throw new TypeError("A batch has items.");
  if (others.some((making) => writeMaking(making) !== writeMaking(first)))
    throw new TypeError("Its items were not all checked in the same way.");
  return first;
}

/**
 * Makes the certificate of a bundle, or of a whole batch with a table of its items. The same arguments give the same
 * bytes, on every machine.
 * @param bytes UTF-8 of the bundle's JSON, or of the batch's answer; the certificate holds it unchanged
 * @param history with the key that signed it
 * @param evidence UTF-8 of the evidence's JSON; the certificate holds it unchanged
 * @throws RangeError when its text is too long for a certificate
 * @throws ProofError for other bytes
 */
export function makeCertificate(
  format: CertificateFormat,
  bytes: Uint8Array,
  history: KeyHistory,
  making: Making,
  evidence?: Uint8Array,
) {
  const contents = contentsOf(bytes, history, making, evidence !== undefined);
  const sheet = layOut(contents, making.paper);
  const carried = {
    ...contents,
    bundle: bytes,
    evidence,
    making: writeMaking(making),
    title: `${contents.heading} ${contents.number}: ${contents.lead}`,
  };
  const made = format === "pdf" ? toPdf(sheet, carried, making.checkedAt) : utf8(toSvg(sheet, carried));
  const { lead, number, stamp } = contents;
  return { bytes: Uint8Array.from(made), title: lead, number, isStamped: stamp !== undefined };
}

/** Returns the text of a bundle's or batch's certificate. @throws as `makeCertificate` */
export function contentsOf(bytes: Uint8Array, history: KeyHistory, making: Making, hasEvidence = false) {
  const { bundle, items } = certifiedIn(bytes);
  const entry = entryOf(bundle, history);
  if (entry === undefined) throw new RangeError("the history has no such key");
  const shown = { ...verify(bundle, { trust: history }), hasEvidence };
  return items === undefined
    ? certificateContents(bundle, shown, entry, making)
    : batchContents(items, shown, entry, making);
}

/**
 * Returns the bundle in this JSON; for a batch's answer, all of its items, and the first one as the bundle.
 * @throws ProofError for anything else
 */
function certifiedIn(bytes: Uint8Array): { bundle: Bundle; items?: [BatchItem, ...BatchItem[]] } {
  if (batchForm(looseText(bytes)) === undefined) return { bundle: parseBundle(bytes) };
  const items = itemBundles(parseBatch(bytes)) as [BatchItem, ...BatchItem[]];
  return { bundle: items[0], items };
}

/**
 * Makes a certificate again from its own contents, and compares byte for byte. What only its maker knew, such as the
 * day, is taken from the certificate and stays unproven.
 * @param history trusted
 * @returns undefined for a file that is just a bundle
 */
export function judgeCertificate(
  file: Uint8Array,
  { from: format, bytes: bundle, making: stated, evidence }: BundleInFile | BatchInFile,
  history: KeyHistory | undefined,
): CertificateJudgement | undefined {
  if (format === "json") return undefined;
  const making = stated && readMaking(stated);
  if (making === undefined) return { words: "fail" };
  if (making === "other layout") return notCompared("another version of attestd made it");
  if (history === undefined || !isSignedByOneOf(history, bundle))
    return notCompared("it names the attestor, which only a key list with its key confirms");
  if (!history.keys.some(({ origin }) => origin === making.site))
    return notCompared(`its QR code leads to ${hostOf(making.site)}, which the key list does not name`);
  try {
    const made = makeCertificate(format, bundle, history, making, evidence).bytes;
    return equalBytes(made, file) ? { words: "pass", making } : { words: "fail", ...difference(file, made) };
  } catch (error) {
    if (error instanceof RangeError) return { words: "fail" };
    throw error;
  }
}

function notCompared(why: string): CertificateJudgement {
  return { words: "not_checked", why };
}

function isSignedByOneOf(history: KeyHistory, bytes: Uint8Array): boolean {
  try {
    return entryOf(certifiedIn(bytes).bundle, history) !== undefined;
  } catch {
    return false;
  }
}

const MAX_DIFFERENCE = 60;

/** Returns the text at the first difference between a certificate and the one made again, if it is text. */
function difference(file: Uint8Array, made: Uint8Array): { stated?: string; computed?: string } {
  let index = 0;
  while (index < Math.min(file.length, made.length) && file[index] === made[index]) index++;
  const [stated, computed] = [file, made].map((bytes) => textAt(bytes, index));
  return stated && computed && stated !== computed ? { stated, computed } : {};
}

/** Returns the text around an index: between an SVG's tags, or a PDF's brackets. */
function textAt(bytes: Uint8Array, index: number): string | undefined {
  const latin1 = (from: number, to: number) => new TextDecoder("latin1").decode(bytes.subarray(Math.max(0, from), to));
  const before = /[^<>()\n]*$/.exec(latin1(index - MAX_DIFFERENCE, index))?.[0] ?? "";
  const after = /^[^<>()\n]*/.exec(latin1(index, index + MAX_DIFFERENCE))?.[0] ?? "";
  const words = before + after;
  return /^[\x20-\x7e]{1,120}$/.test(words) ? printable(words) : undefined;
}
