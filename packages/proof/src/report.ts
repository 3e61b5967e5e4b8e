import type { ReceiptStatus } from "./base/receipt.ts";
import type { BundleType } from "./bundle-types.ts";
import type { KeyStatus } from "./trust.ts";

/** The checks in their order. Which of them a bundle has depends on its type. */
export type CheckName =
  | "schema"
  | "keyTrust"
  | "signature"
  | "hashPreimage"
  | "transactionId"
  | "blockHash"
  | "inclusion"
  | "note"
  | "chainSource"
  | "chainAttest";
export type CheckResult = "pass" | "fail" | "not_checked";
export type Warning = "sandbox" | "included_only" | "transaction_failed" | "history_old";

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
  /** Every offline check of the type passed, and none failed. */
  verified: boolean;
  type: BundleType;
  /** The checks of the type, in their order. */
  checks: Partial<Record<CheckName, CheckResult>>;
  /**
   * Of an inclusion with a light header: `pass` where the way to its commitment holds, being part of `inclusion`, and the
   * commitment is one that the verifier trusts; else `not_checked`. It decides nothing.
   */
  lightHeader?: Exclude<CheckResult, "fail">;
  /** Of an inclusion with a receipt, where `inclusion` passed: what became of the transaction. */
  receipt?: { status: ReceiptStatus };
  /**
   * When the ledger recorded it, by the ledger's own clock: RFC 3339, UTC. By the word of whoever asked the ledger, where
   * `chainAttest` passed; a bundle names a round and no time.
   */
  recordedAt?: string;
  /** Who signed it, as far as the bundle could be read. */
  attestor: { kid?: string; status: KeyStatus; algorandAddress?: string };
  warnings: Warning[];
  failures: Failure[];
};

/**
 * What a report comes down to. `unknown`: unchanged, but signed by no one whom the verifier believes, which is no failure
 * of the bundle. `revoked`: unchanged, but its key was withdrawn.
 */
export type Conclusion = "verified" | "warning" | "unknown" | "revoked" | "failed";

/** One word for a report, whoever shows it to people; nothing is judged again here. */
export function conclusionOf({ verified, warnings, attestor, failures }: VerifyReport): Conclusion {
  if (verified) return warnings.length > 0 ? "warning" : "verified";
  const { status } = attestor;
  const isOfKey = failures.every(({ check }) => check === "keyTrust");
  return isOfKey && (status === "unknown" || status === "revoked") ? status : "failed";
}
