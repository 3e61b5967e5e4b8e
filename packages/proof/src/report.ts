import type { BundleType } from "./bundle-types.ts";
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
  /** Every offline check of the type passed, and none failed. */
  verified: boolean;
  type: BundleType;
  /** The checks of the type, in their order. */
  checks: Partial<Record<CheckName, CheckResult>>;
  /**
   * Of an inclusion that leads on to a state proof's commitment: `pass` where `inclusion` passed and the verifier trusts
   * the commitment; else `not_checked`. It decides nothing.
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
