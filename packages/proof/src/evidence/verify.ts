import { sha256 } from "@noble/hashes/sha2.js";
import {
  type Checkpoint,
  checkStateProof,
  commitsToHeader,
  MAX_STATE_PROOF_BYTES,
  type StateProofFault,
} from "../algorand/state-proof/index.ts";
import { type SignedBundle, signedPart } from "../bundle.ts";
import type { Finding } from "../chain-format.ts";
import { fromBase64, toBase64, toHex } from "../encoding.ts";
import { isProofError } from "../errors.ts";
import { canonicalBytes } from "../json/canonical.ts";
import { parseNote } from "../note.ts";
import { parsedBundle } from "../parsed.ts";
import type { EvidenceCheck, EvidenceReport, Recorded, VerifyReport } from "../report.ts";
import { checkAuthorisationItem } from "./authorisation.ts";
import { type CheckpointTable, hasCheckpoint, rootOfCheckpoint, sameCheckpoint } from "./checkpoints.ts";
import { type AlgorandStateProofItem, type Evidence, evidenceValue, itemOf, readEvidence } from "./form.ts";
import { checkInclusionItem, type ProvenHeader } from "./inclusion.ts";

export type EvidenceOptions = {
  /** Checkpoints that the verifier trusts. */
  checkpoints?: readonly Checkpoint[];
  /** Tables of checkpoints that the verifier trusts. */
  tables?: readonly CheckpointTable[];
  /** Roots of tables of checkpoints that the verifier trusts, lower-case hex of 32 bytes. */
  roots?: readonly string[];
  /** Finds a state proof that the evidence names without holding it. @param sha256 lower-case hex */
  stateProof?: (sha256: string) => Uint8Array | undefined;
  /** Remembers what was found of state proofs: with the same one, a state proof that many bundles share is verified once. */
  memory?: Map<string, StateProofFault | undefined>;
};

type Trusts = { [K in "checkpoints" | "tables" | "roots"]: EvidenceOptions[K] | undefined };

/**
 * Adds what the evidence beside a bundle shows to the report of `verify`. It makes no bundle verified that was not; evidence
 * that is there and wrong makes one fail that was. Who trusts no checkpoint learns only whether the evidence is consistent.
 *
 * @param report of this bundle
 * @param bundle as text or UTF-8, or a value as `parseJson` returns it
 * @param evidence likewise, at most `MAX_EVIDENCE_BYTES`
 * @throws ProofError `json` for evidence that is no JSON or too large; ambiguous JSON fails `schema` instead
 * @throws TypeError for an unknown option
 */
export function withEvidence(
  report: VerifyReport,
  bundle: unknown,
  evidence: unknown,
  options: EvidenceOptions = {},
): VerifyReport {
  const { checkpoints, tables, roots, stateProof, memory = new Map(), ...others } = options;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw new TypeError(`withEvidence has no option ${JSON.stringify(unknown)}`);
  const found: EvidenceReport = {
    schema: "not_checked",
    inclusion: "not_checked",
    stateProof: "not_checked",
    authorisation: "not_checked",
    failures: [],
  };
  const judged: VerifyReport = { ...report, evidence: found };
  if (report.checks.schema !== "pass") return judged;
  const record = (check: EvidenceCheck, faults: Finding[]) => {
    found[check] = faults.length === 0 ? "pass" : "fail";
    found.failures.push(...faults.map((fault) => ({ check, ...fault })));
    if (faults.length > 0) judged.verified = false;
  };

  const signed = signedPart(parsedBundle(report, bundle));
  const read = readOf(evidence, signed);
  record("schema", "evidence" in read ? [] : [read.fault]);
  if (!("evidence" in read)) return judged;

  const inclusion = itemOf(read.evidence, "algorand-inclusion/1");
  if (inclusion === undefined) return judged;
  const header = checkInclusionItem(inclusion.item, signed, ledgerOf(signed), inclusion.pointer);
  record("inclusion", Array.isArray(header) ? header : []);

  if (Array.isArray(header)) return judged;

  const proof = itemOf(read.evidence, "algorand-state-proof/1");
  const faults = proof && checkStateProofItem(proof.item, header, { stateProof, memory }, proof.pointer);
  if (faults !== undefined && faults.length > 0) record("stateProof", faults);
  else if (faults !== undefined && proof !== undefined) {
    const trusted = trustedBy(proof.item, { checkpoints, tables, roots });
    if (trusted) {
      record("stateProof", []);
      judged.recordedBy = recorded(signed, header, proof.item.checkpoint, trusted);
    }
  }

  const authorisation = itemOf(read.evidence, "algorand-authorisation/1");
  if (authorisation === undefined) return judged;
  const { alg, authorizer } = authorisation.item;
  const sender = signed.attestor.algorandAddress;
  const wrong = checkAuthorisationItem(authorisation.item, inclusion.item, sender, authorisation.pointer);
  if (wrong.length > 0) record("authorisation", wrong);
  // Whose key another account's is, only the ledger knows: a header that nobody signed for says it of anyone.
  else if (authorizer === undefined || found.stateProof === "pass") {
    record("authorisation", []);
    judged.authorisedBy = { alg, address: authorizer ?? sender };
  }
  return judged;
}

function readOf(input: unknown, signed: SignedBundle): { evidence: Evidence } | { fault: Finding } {
  try {
    const evidence = readEvidence(evidenceValue(input));
    const computed = `sha256:${toHex(sha256(canonicalBytes(signed)))}`;
    if (evidence.bundle === computed) return { evidence };
    return { fault: { pointer: "/bundle", stated: evidence.bundle, computed, message: "is another bundle" } };
  } catch (error) {
    if (!(isProofError(error, "format") || (isProofError(error, "json") && error.isAmbiguous))) throw error;
    return { fault: { pointer: error.pointer, message: error.message } };
  }
}

function ledgerOf({ attest }: SignedBundle): string | undefined {
  try {
    return parseNote(attest.note).g;
  } catch (error) {
    if (isProofError(error, "format")) return undefined;
    throw error;
  }
}

const FAULTS: Record<StateProofFault, string> = {
  form: "is no canonical state proof",
  rounds: "is not of the interval after the checkpoint",
  weight: "does not prove enough weight",
  salt: "has a signature with a salt of another version",
  coins: "reveals other participants than the coins fell on",
  participants: "reveals others than the checkpoint's participants",
  signatures: "reveals other signatures than it commits to",
  key: "has a key that is not its participant's",
  signature: "has a signature that does not fit the message",
};

/** @returns the faults, or undefined where the state proof itself is not here */
function checkStateProofItem(
  { siblings, message, stateProofSha256, stateProofBase64, checkpoint }: AlgorandStateProofItem,
  header: ProvenHeader,
  {
    stateProof,
    memory,
  }: { stateProof: EvidenceOptions["stateProof"]; memory: Map<string, StateProofFault | undefined> },
  pointer: string,
): Finding[] | undefined {
  if (checkpoint.genesisHash !== toBase64(header.genesisHash))
    return [{ pointer: `${pointer}/checkpoint/genesisHash`, message: "is of another network than the header" }];
  if (!commitsToHeader(message, header.bytes, siblings.map(fromBase64)))
    return [{ pointer: `${pointer}/siblings`, message: "does not lead to the message's commitment" }];
  const at = `${pointer}/stateProofSha256`;
  const question = JSON.stringify([
    stateProofSha256,
    Object.entries(message).sort(),
    Object.entries(checkpoint).sort(),
  ]);
  // A state proof that is here is held to its hash all the same.
  if (stateProofBase64 !== undefined || !memory.has(question)) {
    const bytes = stateProofBase64 === undefined ? stateProof?.(stateProofSha256) : fromBase64(stateProofBase64);
    if (bytes === undefined) return undefined;
    if (bytes.length > MAX_STATE_PROOF_BYTES || toHex(sha256(bytes)) !== stateProofSha256)
      return [{ pointer: at, message: "is not of the state proof" }];
    if (!memory.has(question)) memory.set(question, checkStateProof(bytes, message, checkpoint));
  }
  const fault = memory.get(question);
  return fault === undefined ? [] : [{ pointer: at, message: FAULTS[fault] }];
}

/** What makes the checkpoint a trusted one: itself, a table that has it, or the root of its table. */
function trustedBy(
  { checkpoint, path }: AlgorandStateProofItem,
  { checkpoints = [], tables = [], roots = [] }: Trusts,
): { root?: string } | undefined {
  if (checkpoints.some((one) => sameCheckpoint(one, checkpoint))) return {};
  if (tables.some((table) => hasCheckpoint(table, checkpoint))) return {};
  const root = path && rootOfCheckpoint(checkpoint, path);
  return root !== undefined && roots.includes(root) ? { root } : undefined;
}

function recorded(
  { attest }: SignedBundle,
  { time }: ProvenHeader,
  checkpoint: Checkpoint,
  trusted: { root?: string },
): Recorded {
  return {
    round: attest.round,
    time: new Date(time * 1000).toISOString(),
    provenWeight: leastWeight(checkpoint.lnProvenWeight),
    checkpoint: { round: checkpoint.round, ...trusted },
  };
}

/**
 * The microalgos that were proven at least, in four digits, rounded down: the logarithm was rounded up, so that the weight
 * is more than that of one less. Four digits are the same by every processor's exponential.
 */
function leastWeight(lnProvenWeight: number): number {
  const weight = Math.exp((lnProvenWeight - 1) / 65536);
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(weight)) - 3);
  return Math.floor(weight / unit) * unit;
}
