import type { BundleType } from "./bundle.ts";
import type { Statement } from "./bundle-members.ts";
import { type Finding, isAt, LEDGER_POINTER, type ReceiptStatus } from "./chain-format.ts";

/** The checks in their order. A type of bundle has some of them. */
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

/** What the evidence beside a bundle shows; `withEvidence` adds it. */
export type EvidenceReport = {
  schema: CheckResult;
  /** That the attestation transaction stands under a header of its round. */
  inclusion: CheckResult;
  /** That stake which a trusted checkpoint commits to has signed for that header. */
  stateProof: CheckResult;
  /** That the account's key signed the transaction; of a rekeyed account only where `stateProof` passed. */
  authorisation: CheckResult;
  /** Of a transaction on Algorand: that it stands under the header of the block that the attestor states. */
  sourceInclusion: CheckResult;
  /** That stake which a trusted checkpoint commits to has signed for the header of the source's block. */
  sourceStateProof: CheckResult;
  /** Their pointers lead into the evidence. */
  failures: ({ check: EvidenceCheck } & Finding)[];
};
export type EvidenceCheck = Exclude<keyof EvidenceReport, "failures">;

/** By what key the attestation transaction was signed. */
export type Authorised = {
  alg: "ed25519" | "falcon-1024";
  /** The account whose key it is: the attestor's, or the one to which that was rekeyed. */
  address: string;
};

/** When stake recorded a block, whatever the attestor says: that of the attestation, or the source's. */
export type Recorded = {
  round: number;
  /** The time in the header of the round: RFC 3339, UTC. */
  time: string;
  /** Microalgos that the state proof proves to have signed at least, in four digits, rounded down. */
  provenWeight: number;
  /** The checkpoint that it rests on: its round, and the trusted root of its table, unless it is trusted itself. */
  checkpoint: { round: number; root?: string };
};

export type VerifyReport = {
  /** Every offline check of the type passed, and no online check, nor anything in the evidence, failed. */
  verified: boolean;
  type: BundleType;
  checks: Partial<Record<CheckName, CheckResult>>;
  /** Of a proof to a state proof's commitment: `pass` if `inclusion` passed and the verifier trusts the commitment. */
  lightHeader?: Exclude<CheckResult, "fail">;
  /** Of the attestation of a transaction, if its note could be read; of every item of a batch. Believe it only where `verified` is true. */
  statement?: Statement;
  /** The transaction's outcome, if the bundle has a receipt and `inclusion` passed. */
  receipt?: { status: ReceiptStatus };
  /** When the ledger recorded it, by the ledger's clock, if `chainAttest` passed: RFC 3339, UTC. */
  recordedAt?: string;
  /** Only of `withEvidence`. */
  evidence?: EvidenceReport;
  /** Only of `withEvidence`, and where its `stateProof` passed. Believe it only where `verified` is true. */
  recordedBy?: Recorded;
  /** Only of `withEvidence`, and where its `sourceStateProof` passed: of the source's block. Believe it only where `verified` is true. */
  sourceRecordedBy?: Recorded;
  /** Only of `withEvidence`, and where its `authorisation` passed. Believe it only where `verified` is true. */
  authorisedBy?: Authorised;
  /** The signer, without `kid` and address if `schema` failed. */
  attestor: { kid?: string; status: KeyStatus; algorandAddress?: string };
  warnings: Warning[];
  failures: Failure[];
};

/**
 * `unknown`: intact, but signed with a key that the verifier does not trust. `revoked`: intact, but its key was revoked.
 * `elsewhere`: intact, but for another ledger than that of the keys that the verifier trusts, such as another sandbox's.
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

/** Whether the fault is that the note names another ledger: `stated` and `computed` are the two, in CAIP-2. */
export function isOfLedger({ check, pointer }: Failure): boolean {
  return check === "note" && isAt(pointer, LEDGER_POINTER);
}
