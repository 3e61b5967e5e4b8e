import type { Trust } from "@attestd/proof";
import * as ours from "@attestd/proof";
import { type EvidenceOptions, withEvidence } from "@attestd/proof/evidence";
import { isObject } from "@attestd/proof/json";
import { nativeCrypto } from "../../packages/proof/test/native-crypto.ts";
import { statedLine } from "./programs.ts";

/* What the library says of a file, in the words of the programs. */

export type Proof = Pick<
  typeof ours,
  "itemBundles" | "ProofError" | "parseBatch" | "parseJson" | "parsePaymentReceipt" | "verify" | "verifyPaymentReceipt"
>;

/** Evidence beside a bundle, and the checkpoints that are trusted. */
export type Beside = { evidence: Uint8Array; options: EvidenceOptions };

const REFUSED = "FAIL schema\nnot verified";

/**
 * Judges what a file holds: a bundle, the answer of a batch, or a receipt.
 * @param name of the file
 * @param proof another library than this one
 * @returns as the programs print it, without the last line feed
 */
export function saidOf(name: string, bytes: Uint8Array, trust: Trust, beside?: Beside, proof: Proof = ours): string {
  const { itemBundles, parseBatch, parseJson } = proof;
  const value = attempt(proof, () => parseJson(bytes));
  if (isReceipt(value)) return `${name}\n${ofReceipt(proof, value.signature, trust)}`;
  const items = attempt(proof, () => itemBundles(parseBatch(bytes)));
  if (items)
    return items
      .map((item, index) => `${name} ${index}\n${ofBundle(proof, JSON.stringify(item), trust, beside)}`)
      .join("\n");
  return `${name}\n${ofBundle(proof, bytes, trust, beside)}`;
}

function isReceipt(value: unknown): value is { format: "jws"; signature: string } {
  if (!isObject(value) || Object.keys(value).length !== 2) return false;
  return value.format === "jws" && typeof value.signature === "string";
}

/** The result; undefined where the library refuses the form. */
function attempt<T>({ ProofError }: Proof, compute: () => T): T | undefined {
  try {
    return compute();
  } catch (error) {
    if (error instanceof ProofError && error.code !== "malformed") return undefined;
    throw error;
  }
}

function ofReceipt(proof: Proof, jws: string, trust: Trust): string {
  const read = attempt(proof, () => proof.parsePaymentReceipt(jws));
  if (read === undefined) return REFUSED;
  const { kid, receipt } = read;
  const key = "keys" in trust ? trust.keys.find((one) => one.kid === kid) : undefined;
  const signed =
    key && attempt(proof, () => proof.verifyPaymentReceipt(jws, [key.pqPublicKey], nativeCrypto)) !== undefined;
  const isTrusted = key !== undefined && key.revokedRound === undefined;
  const status = isTrusted ? (key.untilRound === undefined ? "current" : "retired") : key ? "revoked" : "unknown";
  const { network, payer, transaction, issuedAt } = receipt;
  return [
    "pass schema",
    `${isTrusted ? "pass" : "FAIL"} keyTrust`,
    `${signed === undefined ? "not_checked" : signed ? "pass" : "FAIL"} signature`,
    `key ${kid} ${status}`,
    ...(signed ? [`paid ${network} ${payer} ${transaction} ${issuedAt}`] : []),
    signed && isTrusted ? "verified, stated as paid and delivered" : "not verified",
  ].join("\n");
}

function ofBundle(proof: Proof, input: Uint8Array | string, trust: Trust, beside?: Beside): string {
  const own = attempt(proof, () => proof.verify(input, { trust, crypto: nativeCrypto }));
  if (own === undefined || own.checks.schema === "fail") return REFUSED;
  const report = beside ? withEvidenceOrNone(own, input, beside) : own;
  const { checks, verified, attestor, warnings, lightHeader, receipt, statement, evidence } = report;
  const { recordedBy, authorisedBy, sourceRecordedBy } = report;
  const offline = Object.entries(checks).filter(([check]) => !check.startsWith("chain"));
  const { attest, batch } = proof.parseJson(input) as { attest?: Attest; batch?: { attest: Attest } };
  const { failures: _, ...ofEvidence } = evidence ?? { failures: [] };
  const weighed = ({ round, time, provenWeight }: NonNullable<typeof recordedBy>) => `${round} ${time} ${provenWeight}`;
  return [
    ...offline.map(([check, result]) => `${upper(result)} ${check}`),
    ...(lightHeader ? [`${lightHeader} commitment`] : []),
    ...(receipt ? [`receipt ${receipt.status}`] : []),
    ...(statement && checks.note === "pass" ? [statedLine(statement)] : []),
    `key ${attestor.kid} ${attestor.status}`,
    ...Object.entries(ofEvidence).map(([check, result]) => `${upper(result)} evidence.${check}`),
    ...(recordedBy ? [`recorded ${weighed(recordedBy)}`] : []),
    ...(authorisedBy ? [`authorised ${authorisedBy.alg} ${authorisedBy.address}`] : []),
    ...(sourceRecordedBy ? [`source ${weighed(sourceRecordedBy)}`] : []),
    ...(verified ? warnings.map((warning) => `warning ${warning}`) : []),
    verified ? `verified, stated as recorded on Algorand in round ${(attest ?? batch?.attest)?.round}` : "not verified",
  ].join("\n");
}
type Attest = { round: number };

const upper = (result: string) => (result === "fail" ? "FAIL" : result);

/** Evidence that is no JSON fails `schema`, as in the programs. */
function withEvidenceOrNone(report: ours.VerifyReport, bundle: Uint8Array | string, { evidence, options }: Beside) {
  try {
    return withEvidence(report, bundle, evidence, options);
  } catch (error) {
    if (!(error instanceof ours.ProofError && error.code === "json")) throw error;
    return withEvidence(report, bundle, {}, options);
  }
}
