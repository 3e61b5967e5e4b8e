import type { Bundle, CheckName, KeyStatus, ReceiptStatus, Statement, Warning } from "@attestd/proof";
import { canonicalize } from "@attestd/proof/json";
import type { HISTORIES } from "./ingredients.ts";

export type Case = {
  name: string;
  /** The file: JSON, mostly. */
  text: string;
  /** The history to judge it by. */
  keys: keyof typeof HISTORIES;
  /** The checks that fail: none, where the bundle is verified. `schema` fails alone. */
  failed: CheckName[];
  /** What is said of the key; undefined where `schema` fails. */
  status: KeyStatus | undefined;
  warnings: Warning[];
  /** What the receipt of an inclusion says; undefined where `inclusion` fails, and where there is none. */
  receipt?: ReceiptStatus;
  /** What the note of a transaction states; undefined where `note` fails. */
  statement?: Statement;
};

/** What the notes of test transactions state, unless a case says otherwise. */
const STATED: Record<"algorand" | "base", Statement> = {
  algorand: {
    block: { hash: "BLOCKBLOCKBLOCKBLOCKBLOCKBLOCKBLOCKBLOCKBLOCKBLOCKAA", height: 46_580_000, time: 1_780_000_000 },
    outcome: "not_applicable",
  },
  base: {
    block: { hash: `0x${"b10c".repeat(16)}`, height: 46_000_000, time: 1_780_000_000 },
    outcome: "succeeded",
  },
};

export type Verdict = {
  statement?: Statement;
  receipt?: ReceiptStatus;
  failed?: CheckName[];
  status?: KeyStatus;
  warnings?: Warning[];
  keys?: Case["keys"];
};
/** A case: verified by the current key of `keys`, unless the verdict says otherwise. */
export const is = (name: string, bundle: Bundle | string, verdict: Verdict = {}): Case => {
  const { failed = [], status, warnings = [], keys = "keys", receipt } = verdict;
  const text = typeof bundle === "string" ? bundle : canonicalize(bundle);
  const isStated = !failed.some((check) => check === "schema" || check === "note") && !text.includes('"headerBase64"');
  const { statement = STATED[text.includes('"txnId":"0x') ? "base" : "algorand"] } = verdict;
  return {
    name,
    text,
    keys,
    failed,
    status: failed.includes("schema") ? undefined : (status ?? "current"),
    warnings,
    ...(receipt && { receipt }),
    ...(isStated && { statement }),
  };
};
/** What fails in a bundle of the current key. */
export const fails = (check: CheckName, ...more: CheckName[]): Verdict => ({ failed: [check, ...more] });
