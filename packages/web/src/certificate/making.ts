import {
  type Bundle,
  HISTORY_OLD_AFTER,
  type KeyEntry,
  type KeyHistory,
  type KeyStatus,
  parseJson,
} from "@attestd/proof";
import { PAPERS, type Paper } from "./paper.ts";

/**
 * How certificates are laid out and worded. The number goes up with every change by which the same bundle would give
 * other bytes: a certificate of another number is not compared.
 */
export const LAYOUT = 1;

/**
 * What a certificate says beyond its bundle, on its maker's word alone. Every value is of a form that leaves no room for
 * words of the maker's own.
 */
export type Making = {
  layout: typeof LAYOUT;
  paper: Paper;
  /** When it was verified: `YYYY-MM-DD` of UTC. */
  checkedOn: string;
  /** Whose keys that rested on, and of which date they were, where that was known. */
  keys: { basis: (typeof BASES)[number]; date?: string };
  /** Of the signer's key, then. */
  status: Exclude<KeyStatus, "unknown">;
  /** Origin of the attestor's newest key, then: where the code leads. */
  site: string;
  /** Host of the service that compared it with the ledger, and the time of the record: RFC 3339, UTC. */
  ledger?: { askedOf: string; recordedAt?: string };
};

/** Whether the words of a certificate are those of its bundle. */
export type CertificateJudgement =
  | { words: "pass"; making: Making }
  | { words: "fail"; stated?: string; computed?: string }
  | { words: "not_checked"; why: string };

export const BASES = ["origin", "file", "sandbox", "example"] as const;
const STATUSES = ["current", "retired", "revoked"] as const;
const DATE = /^\d{4}-\d\d-\d\d$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$/;
const HOST = /^[a-z0-9.[\]:-]{1,100}$/;
const LONGEST_SITE = 200;

/** What is wrong with what a certificate says of its making, or that it is of another layout. */
export type NoMaking = { isOtherLayout: boolean };

/** Reads what `writeMaking` wrote; anything else of it is refused. */
export function readMaking(bytes: Uint8Array): Making | NoMaking {
  try {
    const value = parseJson(bytes) as Partial<Making> & Record<string, unknown>;
    if (typeof value.layout === "number" && value.layout !== LAYOUT) return { isOtherLayout: true };
    const { paper, checkedOn, keys, status, site, ledger } = value as Making;
    const isGood =
      Object.hasOwn(PAPERS, paper) &&
      isLike(checkedOn, DATE) &&
      BASES.includes(keys.basis) &&
      (keys.date === undefined || isLike(keys.date, DATE)) &&
      STATUSES.includes(status) &&
      typeof site === "string" &&
      site.length <= LONGEST_SITE &&
      (ledger === undefined ||
        (isLike(ledger.askedOf, HOST) && (ledger.recordedAt === undefined || isLike(ledger.recordedAt, TIME))));
    // A member too many is found when the certificate is made again: it is not written.
    return isGood ? { layout: LAYOUT, paper, checkedOn, keys, status, site, ...(ledger && { ledger }) } : NONE;
  } catch {
    return NONE;
  }
}

const NONE: NoMaking = { isOtherLayout: false };

/** One spelling for each making. */
export function writeMaking({ layout, paper, checkedOn, keys, status, site, ledger }: Making): string {
  const { basis, date } = keys;
  return JSON.stringify({
    layout,
    paper,
    checkedOn,
    keys: { basis, date },
    status,
    site,
    ledger: ledger && { askedOf: ledger.askedOf, recordedAt: ledger.recordedAt },
  });
}

/** Whether the key list was old when the certificate was made: a withdrawal in between did not show. */
export function hadOldKeys({ checkedOn, keys }: Making): boolean {
  return keys.date === undefined || (Date.parse(checkedOn) - Date.parse(keys.date)) / 1000 > HISTORY_OLD_AFTER;
}

/** The entry of the key that signed a bundle; undefined where the history has none. */
export function entryOf({ attestor }: Bundle, history: KeyHistory): KeyEntry | undefined {
  return history.keys.find(({ pqPublicKey }) => pqPublicKey === attestor.pqPublicKey);
}

function isLike(value: unknown, form: RegExp): boolean {
  return typeof value === "string" && form.test(value);
}
