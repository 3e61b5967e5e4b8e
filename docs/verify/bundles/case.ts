import type { Bundle, CheckName, KeyStatus, ReceiptStatus, Warning } from "@attestd/proof";
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
};

export type Verdict = {
  receipt?: ReceiptStatus;
  failed?: CheckName[];
  status?: KeyStatus;
  warnings?: Warning[];
  keys?: Case["keys"];
};
/** A case: verified by the current key of `keys`, unless the verdict says otherwise. */
export const is = (name: string, bundle: Bundle | string, verdict: Verdict = {}): Case => {
  const { failed = [], status, warnings = [], keys = "keys", receipt } = verdict;
  return {
    name,
    text: typeof bundle === "string" ? bundle : canonicalize(bundle),
    keys,
    failed,
    status: failed.includes("schema") ? undefined : (status ?? "current"),
    warnings,
    ...(receipt && { receipt }),
  };
};
/** What fails in a bundle of the current key. */
export const fails = (check: CheckName, ...more: CheckName[]): Verdict => ({ failed: [check, ...more] });
