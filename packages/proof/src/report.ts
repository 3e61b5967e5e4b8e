import type { BundleType } from "./bundle.ts";
import type { Finding, ReceiptStatus } from "./chain-format.ts";

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

/** A key's standing: `retired` once a successor has replaced it, `unknown` where the verifier trusts no such key. */
export type KeyStatus = "current" | "retired" | "revoked" | "unknown";

export type Failure = { check: CheckName } & Finding;

export type VerifyReport = {
  /** Every offline check of the type passed, and no online check failed. */
  verified: boolean;
  type: BundleType;
  /** The checks of the type, in their order. */
  checks: Partial<Record<CheckName, CheckResult>>;
  /**
   * Of an inclusion that leads on to a state proof's commitment: `pass` where `inclusion` passed and the verifier trusts
   * the commitment; else `not_checked`. It decides nothing.
   */
  lightHeader?: Exclude<CheckResult, "fail">;
  /** The transaction's outcome, where a receipt is in the bundle and `inclusion` passed. */
  receipt?: { status: ReceiptStatus };
  /**
   * When the ledger recorded it, by the ledger's own clock: RFC 3339, UTC. From the online check `chainAttest`, where it
   * passed: a bundle states a round and no time.
   */
  recordedAt?: string;
  /** The signer, as far as the bundle could be read. */
  attestor: { kid?: string; status: KeyStatus; algorandAddress?: string };
  warnings: Warning[];
  failures: Failure[];
};

/**
 * The conclusion of a report. `unknown`: intact, but signed with a key that the verifier does not trust, which is no fault
 * of the bundle. `revoked`: intact, but its key was revoked.
 */
export type Conclusion = "verified" | "warning" | "unknown" | "revoked" | "failed";

/** Sums up a report for display; it judges nothing again. */
export function conclusionOf({ verified, warnings, attestor, failures }: VerifyReport): Conclusion {
  if (verified) return warnings.length > 0 ? "warning" : "verified";
  const { status } = attestor;
  const isOfKey = failures.every(({ check }) => check === "keyTrust");
  return isOfKey && (status === "unknown" || status === "revoked") ? status : "failed";
}
