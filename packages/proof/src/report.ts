import type { BundleType } from "./bundle.ts";
import type { KeyStatus } from "./trust.ts";

export type CheckName =
  | "schema"
  | "keyTrust"
  | "signature"
  | "hashPreimage"
  | "transactionId"
  | "note"
  | "chainSource"
  | "chainAttest";
export type CheckResult = "pass" | "fail" | "not_checked";
export type Warning = "sandbox" | "included_only" | "history_old";

/** Something that a check found wrong. */
export type Finding = {
  /** What the bundle says. */
  stated?: string;
  /** What its bytes, or the verifier's own knowledge, say instead. */
  computed?: string;
  /** JSON pointer to what is wrong; of the note it leads on into the note's own JSON. */
  pointer?: string;
  /** For people, where stated and computed do not tell. */
  message?: string;
};

export type Failure = { check: CheckName } & Finding;

export type VerifyReport = {
  /** Every offline check passed, and no check failed. */
  verified: boolean;
  type: BundleType;
  /** In the order of the checks; those that the bundle's type has. */
  checks: Partial<Record<CheckName, CheckResult>>;
  /** Who signed it, as far as the bundle could be read. */
  attestor: { kid?: string; status: KeyStatus; algorandAddress?: string };
  warnings: Warning[];
  failures: Failure[];
};
