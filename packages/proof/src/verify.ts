import { ALGORAND_MAINNET } from "./algorand/network.ts";
import { type Bundle, type BundleType, bundleType, type InclusionBundle, readBundle } from "./bundle.ts";
import { type ChainFormat, type Finding, isAt } from "./chain-format.ts";
import { CHAINS } from "./chains.ts";
import { type Examined, examine, OFFLINE_CHECKS, statementOf } from "./checks.ts";
import { formatError, isProofError } from "./errors.ts";
import { jsonValue } from "./json/parse.ts";
import { levelOf } from "./level.ts";
import { rememberParsed } from "./parsed.ts";
import type { CheckName, VerifyReport, Warning } from "./report.ts";
import { type Crypto, nobleCrypto } from "./signature.ts";
import { KEY_POINTER, type Trust } from "./trust.ts";

export type VerifyOptions = {
  /**
   * The keys that the verifier trusts: a key history from `parseKeyHistory`, or kids of keys known from elsewhere.
   * Without it the signer stays unknown and nothing is verified.
   */
  trust?: Trust | undefined;
  /** The types of bundle to accept. Default: all. */
  type?: BundleType | readonly BundleType[] | undefined;
  /** Seconds since the trusted key history was fetched: it cannot show later revocations. */
  historyAge?: number;
  /** `BlockHeadersCommitment`s from state proofs that the verifier has verified, base64. */
  commitments?: readonly string[];
  /** The known source chains. Default: `CHAINS`. */
  chains?: readonly ChainFormat[] | undefined;
  crypto?: Crypto;
};

/** The result of an online check: `pass`, or the faults. */
export type ChainFinding = "pass" | Finding[];

/** The results of the online checks that were made. */
export type ChainFindings = {
  chainSource?: ChainFinding;
  chainAttest?: ChainFinding;
  /** When the ledger recorded it: RFC 3339, UTC. */
  recordedAt?: string;
};

/** The age in seconds after which a key history gives a warning: 30 days. */
export const HISTORY_OLD_AFTER = 30 * 24 * 60 * 60;

/** The offline checks of each type of bundle after `schema`, in order. */
const CHECKS: Record<BundleType, (keyof typeof OFFLINE_CHECKS)[]> = {
  "transaction-attestation": ["keyTrust", "signature", "hashPreimage", "transactionId", "note"],
  "block-attestation": ["keyTrust", "signature", "hashPreimage", "blockHash", "note"],
  "tx-inclusion": ["keyTrust", "signature", "hashPreimage", "transactionId", "blockHash", "inclusion", "note"],
  "batch-item": ["keyTrust", "signature", "hashPreimage", "transactionId", "inclusion", "note"],
};
/** The checks that ask the chains. */
export const ONLINE_CHECKS = ["chainSource", "chainAttest"] as const;

/**
 * Verifies a bundle offline. Every check is made even if an earlier one failed, except after `schema`.
 * @param input a bundle as text or UTF-8, or a value as `parseJson` returns it
 * @returns rely on `verified`, never on the checks alone: a bundle brings its own key
 * @throws ProofError `json` for a text that is no JSON or larger than 2 MiB; ambiguous JSON fails `schema` instead
 * @throws TypeError for an unknown option
 * @example
 * const trust = parseKeyHistory(await readFile("keys.json"));
 * const { verified, failures } = verify(await readFile("bundle.json"), { trust });
 */
export function verify(input: unknown, options: VerifyOptions = {}): VerifyReport {
  const { trust, type, historyAge = 0, commitments = [], chains = CHAINS, crypto = nobleCrypto, ...others } = options;
  // A misspelt `trust` would mean no trust, and a misspelt `type` any type.
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw new TypeError(`verify has no option ${JSON.stringify(unknown)}`);
  const read = readInput(input, typeof type === "string" ? [type] : type, chains);
  const report = emptyReport(read.type);
  record(report, "schema", read.bundle ? [] : [read.finding]);
  if (read.bundle === undefined) return report;

  const examined = examine(read.bundle, { trust, crypto, chains });
  for (const check of CHECKS[read.type]) record(report, check, OFFLINE_CHECKS[check](examined));
  const { algorandAddress } = examined.signed.attestor;
  report.attestor = { kid: examined.key.kid, status: examined.judgement?.status ?? "unknown", algorandAddress };
  const statement = statementOf(examined);
  if (statement) report.statement = statement;
  if ("inclusion" in read.bundle) addInclusion(report, read.bundle, examined, commitments);
  report.warnings = warnings(report, examined, historyAge);
  report.verified = isVerified(report);
  const note = isProofError(examined.note, "format") ? undefined : examined.note;
  rememberParsed(report, input, { bundle: read.bundle, note });
  return report;
}

/**
 * Adds online findings to the report of `verify`. A revoked key is trusted if the ledger shows the record in a round
 * before the revocation: the key's holder can write any round into a bundle, but not into the ledger.
 */
export function withChain(report: VerifyReport, findings: ChainFindings): VerifyReport {
  const online: VerifyReport = { ...report, checks: { ...report.checks }, failures: [...report.failures] };
  for (const check of ONLINE_CHECKS) {
    const finding = findings[check];
    if (finding !== undefined) record(online, check, finding === "pass" ? [] : finding);
  }
  if (online.checks.chainAttest === "pass" && awaitsLedger(report)) {
    online.checks.keyTrust = "pass";
    online.failures = online.failures.filter(({ check }) => check !== "keyTrust");
  }
  if (online.checks.chainAttest === "pass" && findings.recordedAt !== undefined)
    online.recordedAt = findings.recordedAt;
  online.verified = isVerified(online);
  return online;
}

/** Whether online checks can matter: no offline check failed, except a `keyTrust` that `chainAttest` may clear. */
export function mayAskChain(report: VerifyReport): boolean {
  return report.failures.every(({ check }) => check === "keyTrust" && awaitsLedger(report));
}

/** Whether the revocation is the key's only fault, which a round on the ledger can clear. */
function awaitsLedger({ attestor, failures }: VerifyReport): boolean {
  const [fault, ...others] = failures.filter(({ check }) => check === "keyTrust");
  return attestor.status === "revoked" && isAt(fault?.pointer, KEY_POINTER) && others.length === 0;
}

/** What the member `type` must be where only transactions' bundles are accepted: they have none. */
const NO_TYPE = "absent: only bundles of transactions are taken here";

type ReadInput = { type: BundleType } & ({ bundle: Bundle } | { bundle?: never; finding: Finding });

/** Does the step `schema`. */
function readInput(input: unknown, only: readonly BundleType[] | undefined, chains: readonly ChainFormat[]): ReadInput {
  let type: BundleType = only?.[0] ?? "transaction-attestation";
  try {
    const value = jsonValue(input);
    const claimed = bundleType(value);
    if (only === undefined || only.includes(claimed)) type = claimed;
    // Reports the wrong type instead of the members that another type has.
    if (typeof value === "object" && value !== null && claimed !== type)
      throw formatError("/type", `must be ${type === "transaction-attestation" ? NO_TYPE : JSON.stringify(type)}`);
    return { type, bundle: readBundle(value, type, chains) };
  } catch (error) {
    if (!(isProofError(error, "format") || (isProofError(error, "json") && error.isAmbiguous))) throw error;
    return { type, finding: { pointer: error.pointer, message: error.message } };
  }
}

function emptyReport(type: BundleType): VerifyReport {
  const names: CheckName[] = ["schema", ...CHECKS[type], ...ONLINE_CHECKS];
  return {
    verified: false,
    type,
    checks: Object.fromEntries(names.map((check) => [check, "not_checked"])),
    attestor: { status: "unknown" },
    warnings: [],
    failures: [],
  };
}

function record(report: VerifyReport, check: CheckName, found: Finding[] | undefined): void {
  if (found === undefined) return;
  report.checks[check] = found.length === 0 ? "pass" : "fail";
  report.failures.push(...found.map((finding) => ({ check, ...finding })));
}

function isVerified({ type, checks, evidence }: VerifyReport): boolean {
  const offline: CheckName[] = ["schema", ...CHECKS[type]];
  const all: unknown[] = [...Object.values(checks), ...Object.values(evidence ?? {})];
  return offline.every((check) => checks[check] === "pass") && !all.includes("fail");
}

function addInclusion(
  report: VerifyReport,
  { inclusion }: InclusionBundle,
  { chain, source }: Examined,
  commitments: readonly string[],
): void {
  const isProven = report.checks.inclusion === "pass";
  const status = isProven && source ? chain.receiptStatus?.(inclusion, source.bytes) : undefined;
  if (status) report.receipt = { status };
  const commitment = chain.commitment?.(inclusion);
  if (commitment !== undefined)
    report.lightHeader = isProven && commitments.includes(commitment) ? "pass" : "not_checked";
}

function warnings({ receipt, statement }: VerifyReport, examined: Examined, historyAge: number): Warning[] {
  const { bundle, note } = examined;
  const found: Warning[] = [];
  if ("g" in note && note.g !== ALGORAND_MAINNET) found.push("sandbox");
  if (levelOf(bundle, isProofError(note, "format") ? undefined : note) === "included") found.push("included_only");
  if (receipt?.status === "failed" || statement?.outcome === "failed") found.push("transaction_failed");
  if (historyAge > HISTORY_OLD_AFTER) found.push("history_old");
  return found;
}
