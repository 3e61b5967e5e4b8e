import { type Bundle, type SignedBundle, signedPart } from "../bundle.ts";
import type { Finding } from "../chain-format.ts";
import { toHex } from "../encoding.ts";
import { isProofError } from "../errors.ts";
import { canonicalBytes } from "../json/canonical.ts";
import { ledgerOfNote, type Note } from "../note.ts";
import { parsedOf } from "../parsed.ts";
import type { EvidenceCheck, EvidenceReport, Recorded, VerifyReport } from "../report.ts";
import { sha256 } from "../sha2.ts";
import { checkAuthorisationItem } from "./authorisation.ts";
import { type Evidence, itemOf, parseEvidence, type StakeProof } from "./form.ts";
import type { ProvenHeader } from "./header.ts";
import { checkInclusionItem } from "./inclusion.ts";
import { checkSourceInclusionItem, readOwnHeader } from "./source.ts";
import { checkStakeProof, type StakeOptions } from "./stake.ts";

export type EvidenceOptions = Partial<StakeOptions>;

/**
 * Adds the findings about a bundle's evidence to its report. Evidence never makes an unverified bundle verified; wrong
 * evidence makes a verified bundle fail. A verifier that trusts no checkpoint learns only whether the evidence is
 * consistent.
 * @param report of this bundle
 * @param bundle as text or UTF-8, or a value as `parseJson` returns it
 * @param evidence likewise, at most `MAX_EVIDENCE_BYTES`
 * @throws ProofError `json` for evidence that is not JSON or too large; ambiguous JSON fails `schema` instead
 * @throws TypeError for an unknown option
 */
export function withEvidence(
  report: VerifyReport,
  bundle: unknown,
  evidence: unknown,
  options: EvidenceOptions = {},
): VerifyReport {
  const { checkpoints = [], tables = [], roots = [], stateProof, memory = new Map(), ...others } = options;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw new TypeError(`withEvidence has no option ${JSON.stringify(unknown)}`);
  const judged: Judged = { ...report, evidence: noFindings() };
  if (report.checks.schema !== "pass") return judged;
  const { bundle: whole, note } = parsedOf(report, bundle);
  const signed = signedPart(whole);
  const read = readOf(evidence, signed);
  record(judged, "schema", "evidence" in read ? [] : [read.fault]);
  if (!("evidence" in read)) return judged;

  const stake: StakeOptions = { checkpoints, tables, roots, memory, stateProof: stateProof ?? (() => undefined) };
  checkRecord(judged, read.evidence, signed, stake);
  checkSource(judged, read.evidence, whole, note, stake);
  return judged;
}

type Judged = VerifyReport & { evidence: EvidenceReport };

function noFindings(): EvidenceReport {
  return {
    schema: "not_checked",
    inclusion: "not_checked",
    stateProof: "not_checked",
    authorisation: "not_checked",
    sourceInclusion: "not_checked",
    sourceStateProof: "not_checked",
    failures: [],
  };
}

function record(judged: Judged, check: EvidenceCheck, faults: readonly Finding[]): void {
  judged.evidence[check] = faults.length === 0 ? "pass" : "fail";
  judged.evidence.failures.push(...faults.map((fault) => ({ check, ...fault })));
  if (faults.length > 0) judged.verified = false;
}

/** Checks that the ledger recorded the attestation, and whose key signed it. */
function checkRecord(judged: Judged, evidence: Evidence, signed: SignedBundle, stake: StakeOptions): void {
  const inclusion = itemOf(evidence, "algorand-inclusion/1");
  if (inclusion === undefined) return;
  const header = checkInclusionItem(inclusion.item, signed, ledgerOfNote(signed.attest.note), inclusion.pointer);
  record(judged, "inclusion", Array.isArray(header) ? header : []);
  if (Array.isArray(header)) return;

  const proof = itemOf(evidence, "algorand-state-proof/1");
  const recorded = proof && recordStake(judged, "stateProof", withHeld(proof, evidence), header, stake);
  if (recorded) judged.recordedBy = recorded;

  const authorisation = itemOf(evidence, "algorand-authorisation/1");
  if (authorisation === undefined) return;
  const { alg, authorizer } = authorisation.item;
  const sender = signed.attestor.algorandAddress;
  const wrong = checkAuthorisationItem(authorisation.item, inclusion.item, sender, authorisation.pointer);
  if (wrong.length > 0) record(judged, "authorisation", wrong);
  // Only the ledger knows to which key an account was rekeyed: a header that nobody signed for can claim any.
  else if (authorizer === undefined || judged.evidence.stateProof === "pass") {
    record(judged, "authorisation", []);
    judged.authorisedBy = { alg, address: authorizer ?? sender };
  }
}

/** Checks that the source's block belongs to its chain and contains the source. */
function checkSource(
  judged: Judged,
  evidence: Evidence,
  bundle: Bundle,
  note: Note | undefined,
  stake: StakeOptions,
): void {
  const inclusion = itemOf(evidence, "algorand-source-inclusion/1");
  const proof = itemOf(evidence, "algorand-source-state-proof/1");
  const chain = "statement" in bundle ? bundle.statement.chain : note && "c" in note ? note.c : undefined;
  if (chain === undefined || judged.checks.note !== "pass") return;
  let header: ProvenHeader | Finding[] | undefined;
  if (inclusion !== undefined) {
    header = checkSourceInclusionItem(inclusion.item, bundle, judged.statement, chain, inclusion.pointer);
    record(judged, "sourceInclusion", Array.isArray(header) ? header : []);
  } else if (proof !== undefined && "block" in bundle && judged.checks.blockHash === "pass") {
    header = readOwnHeader(bundle.block.headerBase64, chain, proof.pointer);
    if (Array.isArray(header)) record(judged, "sourceStateProof", header);
  }
  if (header === undefined || Array.isArray(header) || proof === undefined) return;
  const recorded = recordStake(judged, "sourceStateProof", withHeld(proof, evidence), header, stake);
  if (recorded) judged.sourceRecordedBy = recorded;
}

/** Checks a stake proof item. @returns who recorded the block, if that is proven */
function recordStake(
  judged: Judged,
  check: "stateProof" | "sourceStateProof",
  { item, pointer }: { item: StakeProof; pointer: string },
  header: ProvenHeader,
  stake: StakeOptions,
): Recorded | undefined {
  const { faults, recorded } = checkStakeProof(item, header, stake, pointer);
  if (faults.length > 0 || recorded) record(judged, check, faults);
  return recorded;
}

/** Adds the named state proof to an item, if only the other item contains it. */
function withHeld({ item, pointer }: { item: StakeProof; pointer: string }, { items }: Evidence) {
  const isHere = (one: Evidence["items"][number]): one is StakeProof & { type: string } =>
    "stateProofBase64" in one && one.stateProofSha256 === item.stateProofSha256;
  return { item: { ...items.find(isHere), ...item }, pointer };
}

function readOf(input: unknown, signed: SignedBundle): { evidence: Evidence } | { fault: Finding } {
  try {
    const evidence = parseEvidence(input);
    const computed = `sha256:${toHex(sha256(canonicalBytes(signed)))}`;
    if (evidence.bundle === computed) return { evidence };
    return { fault: { pointer: "/bundle", stated: evidence.bundle, computed, message: "is another bundle" } };
  } catch (error) {
    if (!(isProofError(error, "format") || (isProofError(error, "json") && error.isAmbiguous))) throw error;
    return { fault: { pointer: error.pointer, message: error.message } };
  }
}
