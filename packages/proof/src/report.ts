import type { BundleType } from "./bundle.ts";
import type { Statement } from "./bundle-members.ts";
import { type Finding, isAt, LEDGER_POINTER, type ReceiptStatus } from "./chain-format.ts";

/** The checks in order. Each type of bundle has some of them. */
export const CHECK_NAMES = [
  "schema",
  "keyTrust",
  "signature",
  "hashPreimage",
  "transactionId",
  "blockHash",
  "inclusion",
  "note",
  "chainSource",
  "chainAttest",
] as const;
export type CheckName = (typeof CHECK_NAMES)[number];
export type CheckResult = "pass" | "fail" | "not_checked";
export type Warning = "sandbox" | "included_only" | "transaction_failed" | "history_old";

/** `retired`: replaced by a successor. `unknown`: not trusted by the verifier. */
export type KeyStatus = "current" | "retired" | "revoked" | "unknown";

export type Failure = { check: CheckName } & Finding;

/** The findings about a bundle's evidence; `withEvidence` adds them. */
export type EvidenceReport = {
  schema: CheckResult;
  /** The attestation transaction is in the block with its round's header. */
  inclusion: CheckResult;
  /** Stake to which a trusted checkpoint commits signed for that header. */
  stateProof: CheckResult;
  /** The account's key signed the transaction. For a rekeyed account, only if `stateProof` passed. */
  authorisation: CheckResult;
  /** For a transaction on Algorand: it is in the block with the header of the stated block. */
  sourceInclusion: CheckResult;
  /** Stake to which a trusted checkpoint commits signed for the header of the source's block. */
  sourceStateProof: CheckResult;
  /** Their pointers lead into the evidence. */
  failures: ({ check: EvidenceCheck } & Finding)[];
};
export type EvidenceCheck = Exclude<keyof EvidenceReport, "failures">;

/** The key that signed the attestation transaction. */
export type Authorised = {
  alg: "ed25519" | "falcon-1024";
  /** The account whose key signed: the attestor's, or the account to which it was rekeyed. */
  address: string;
};

/** When stake recorded a block, whatever the attestor says: the attestation's block, or the source's. */
export type Recorded = {
  round: number;
  /** The time in the header of the round: RFC 3339, UTC. */
  time: string;
  /** The least number of microalgos that the state proof proves to have signed, rounded down to four digits. */
  provenWeight: number;
  /**
   * The checkpoint on which it rests: its round, and the trusted root of its table unless the checkpoint itself is
   * trusted.
   */
  checkpoint: { round: number; root?: string };
};

export type VerifyReport = {
  /** Every offline check of the type passed, and no online check and nothing in the evidence failed. */
  verified: boolean;
  type: BundleType;
  checks: Partial<Record<CheckName, CheckResult>>;
  /**
   * For an inclusion that leads to a state proof's commitment: `pass` if `inclusion` passed and the verifier trusts the
   * commitment.
   */
  lightHeader?: Exclude<CheckResult, "fail">;
  /** For a transaction with a readable note, and for every batch item. Believe it only if `verified` is true. */
  statement?: Statement;
  /** The transaction's outcome, if the bundle has a receipt and `inclusion` passed. */
  receipt?: { status: ReceiptStatus };
  /** When the ledger recorded it, by the ledger's clock, if `chainAttest` passed: RFC 3339, UTC. */
  recordedAt?: string;
  /** Only from `withEvidence`. */
  evidence?: EvidenceReport;
  /** Only from `withEvidence`, if its `stateProof` passed. Believe it only if `verified` is true. */
  recordedBy?: Recorded;
  /**
   * Only from `withEvidence`, if its `sourceStateProof` passed: for the source's block. Believe it only if `verified`
   * is true.
   */
  sourceRecordedBy?: Recorded;
  /** Only from `withEvidence`, if its `authorisation` passed. Believe it only if `verified` is true. */
  authorisedBy?: Authorised;
  /** The signer, without `kid` and address if `schema` failed. */
  attestor: { kid?: string; status: KeyStatus; algorandAddress?: string };
  warnings: Warning[];
  failures: Failure[];
};

/**
 * `unknown`: intact, but signed with a key that the verifier does not trust. `revoked`: intact, but its key was
 * revoked. `elsewhere`: intact, but for another ledger than the trusted keys', such as another sandbox's.
 */
export type Conclusion = "verified" | "warning" | "unknown" | "elsewhere" | "revoked" | "failed";

/** The conclusion of a report, for display. */
export function conclusionOf({ verified, warnings, attestor, failures }: VerifyReport): Conclusion {
  if (verified) return warnings.length > 0 ? "warning" : "verified";
  const { status } = attestor;
  const isOfKeyOrLedger = (failure: Failure) => failure.check === "keyTrust" || isOfLedger(failure);
  if (status !== "revoked" && failures.some(isOfLedger) && failures.every(isOfKeyOrLedger)) return "elsewhere";
  const isOfKey = failures.every(({ check }) => check === "keyTrust");
  return isOfKey && (status === "unknown" || status === "revoked") ? status : "failed";
}

/** Whether the fault is a note that names another ledger: `stated` and `computed` are the two, in CAIP-2. */
export function isOfLedger({ check, pointer }: Failure): boolean {
  return check === "note" && isAt(pointer, LEDGER_POINTER);
}
