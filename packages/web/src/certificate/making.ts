import {
  type BatchHead,
  type Bundle,
  type KeyEntry,
  type KeyHistory,
  type KeyStatus,
  parseJson,
  signedPart,
} from "@attestd/proof";

/** Sizes in points (1/72 inch). */
export const PAPERS = {
  a4: { width: 595.28, height: 841.89 },
  letter: { width: 612, height: 792 },
} as const;
export type Paper = keyof typeof PAPERS;

/**
 * Version of the certificates' layout and wording. Every change that gives the same bundle other bytes increases it. A
 * certificate of another version is not compared.
 */
export const LAYOUT = 2;

/** What a certificate states beyond its bundle, unproven. No value's format leaves room for the maker's own text. */
export type Making = {
  layout: typeof LAYOUT;
  paper: Paper;
  /** When it was verified: RFC 3339, UTC, to the second. */
  checkedAt: string;
  /** The version of attestd that verified it. */
  version: string;
  /** The keys with which it was verified, and their date if known. */
  keys: { basis: (typeof BASES)[number]; date?: string | undefined };
  /** Status of the signer's key at that time. */
  status: Exclude<KeyStatus, "unknown">;
  /** Origin of the attestor's newest key at that time. The QR code leads there. */
  site: string;
  /** Host of the service that compared it with the ledger, and the record's time: RFC 3339, UTC. */
  ledger?: { askedOf: string; recordedAt?: string | undefined } | undefined;
};

/** Whether a certificate's text is its bundle's. */
export type CertificateJudgement =
  | { words: "pass"; making: Making }
  | { words: "fail"; stated?: string; computed?: string }
  | { words: "not_checked"; why: string };

export const BASES = ["origin", "file", "sandbox", "example"] as const;
const STATUSES = ["current", "retired", "revoked"] as const;
const DATE = /^\d{4}-\d\d-\d\d$/;
const SECOND = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$/;
const VERSION = /^\d{1,4}\.\d{1,4}\.\d{1,4}(-(alpha|beta|rc)\.\d{1,4})?$/;
const HOST = /^[a-z0-9.[\]:-]{1,100}$/;
const MAX_SITE_LENGTH = 200;

/** Reads what `writeMaking` wrote. @returns `other layout` for another version, undefined for anything else */
export function readMaking(bytes: Uint8Array): Making | "other layout" | undefined {
  try {
    const value = parseJson(bytes) as Partial<Making> & Record<string, unknown>;
    if (typeof value.layout === "number" && value.layout !== LAYOUT) return "other layout";
    const { paper, checkedAt, version, keys, status, site, ledger } = value as Making;
    const isGood =
      Object.hasOwn(PAPERS, paper) &&
      isLike(checkedAt, SECOND) &&
      isLike(version, VERSION) &&
      BASES.includes(keys.basis) &&
      (keys.date === undefined || isLike(keys.date, DATE)) &&
      STATUSES.includes(status) &&
      typeof site === "string" &&
      site.length <= MAX_SITE_LENGTH &&
      (ledger === undefined ||
        (isLike(ledger.askedOf, HOST) && (ledger.recordedAt === undefined || isLike(ledger.recordedAt, TIME))));
    // An extra member shows when the certificate is made again without it.
    return isGood ? { layout: LAYOUT, paper, checkedAt, version, keys, status, site, ledger } : undefined;
  } catch {
    return undefined;
  }
}

/** Writes a making as JSON with a fixed order of members and no others, at every level. */
export function writeMaking({ layout, paper, checkedAt, version, keys, status, site, ledger }: Making): string {
  const { basis, date } = keys;
  return JSON.stringify({
    layout,
    paper,
    checkedAt,
    version,
    keys: { basis, date },
    status,
    site,
    ledger: ledger && { askedOf: ledger.askedOf, recordedAt: ledger.recordedAt },
  });
}

/** Returns the entry of the key that signed a bundle or a batch's head; undefined when the history lacks it. */
export function entryOf(bundle: Bundle | BatchHead, history: KeyHistory): KeyEntry | undefined {
  const { attestor } = signedPart(bundle);
  return history.keys.find(({ pqPublicKey }) => pqPublicKey === attestor.pqPublicKey);
}

function isLike(value: unknown, form: RegExp): boolean {
  return typeof value === "string" && form.test(value);
}
