import { join } from "node:path";
import { isProofError } from "@attestd/proof";
import { itemOf, MAX_EVIDENCE_BYTES, parseEvidence, withEvidence } from "@attestd/proof/evidence";
import { MAX_STATE_PROOF_BYTES } from "@attestd/proof/state-proof";
import { EXIT, failsFor, fileTrouble } from "../failure.ts";
import { readFound, readNamed } from "../files/files.ts";
import type { Checked } from "./check-file.ts";
import { checkpointTrusts, trustOf, trustOptions } from "./checkpoints.ts";

/** Where evidence is, and what is needed to check it. */
export type EvidenceFiles = {
  /** The evidence of the one bundle. Without it, each bundle has the evidence inside its certificate, or in the file beside it. */
  evidence?: string;
  /** The checkpoints that the user trusts: files, roots of tables in lower-case hex, or names of those that come with attestd. */
  checkpoint?: string[];
  /** The folder with the state proofs that evidence names without containing them. */
  stateProofs?: string;
};

/** Evidence that cannot be read: what happened, and why. */
export type EvidenceTrouble = { trouble: string; why: string };

/**
 * Reads what is trusted, and returns a function that adds to a checked bundle what its evidence shows.
 *
 * @param isOptional whether a bundle may have no evidence
 * @throws Failure for a named file that cannot be read
 */
export async function evidenceCheck(files: EvidenceFiles, isOptional: boolean) {
  const { evidence, checkpoint = [], stateProofs } = files;
  const trusts = await checkpointTrusts(checkpoint);
  // Before the first bundle is checked, so that a fault in it is found early.
  const named = evidence === undefined ? undefined : await readEvidenceFile(evidence);
  const memory = new Map();
  const options = { ...trustOptions(trusts), memory, ...(stateProofs !== undefined && stateProofsIn(stateProofs)) };
  return async (checked: Checked): Promise<Checked | EvidenceTrouble> => {
    const file = evidence ?? evidenceFileName(checked.answer ?? checked.file);
    const bytes = named ?? checked.evidence ?? evidenceBeside(file);
    if (bytes === undefined)
      return isOptional ? checked : { trouble: `can't read ${file}`, why: "There is no such file." };
    if ("trouble" in bytes) return bytes;
    try {
      const report = withEvidence(checked.report, checked.bytes, bytes, options);
      const found = { ...checked, report, evidence: bytes };
      if (report.recordedBy === undefined) return found;
      const proof = itemOf(parseEvidence(bytes), "algorand-state-proof/1");
      const trust = proof && trustOf(proof.item, trusts);
      return { ...found, ...(trust && { restsOn: { basis: trust.basis, name: trust.name } }) };
    } catch (error) {
      if (!isProofError(error, "json")) throw error;
      const why = error.fault === "too_large" ? `More than ${MAX_EVIDENCE_BYTES / 2 ** 20} MiB.` : `${error.message}.`;
      return { trouble: `${file} is no evidence`, why: `Not JSON: ${why}` };
    }
  };
}

/** The name of the evidence file beside a bundle's file. */
export function evidenceFileName(bundleName: string): string {
  return `${bundleName.replace(/\.(json|pdf|svg)$/i, "")}.evidence.json`;
}

/** The file of a state proof in a folder, as canonical msgpack. @param sha256 its hash, lower-case hex */
export function stateProofFile(folder: string, sha256: string): string {
  return join(folder, `${sha256}.msgpack`);
}

/** Finds state proofs in a folder. A file that can't be read counts as absent. The caller compares the bytes with the hash. */
function stateProofsIn(folder: string) {
  return {
    stateProof(sha256: string): Uint8Array | undefined {
      try {
        return readFound(stateProofFile(folder, sha256), MAX_STATE_PROOF_BYTES);
      } catch {
        return undefined;
      }
    },
  };
}

async function readEvidenceFile(path: string): Promise<Uint8Array> {
  return (await readNamed(path, MAX_EVIDENCE_BYTES).catch(failsFor(EXIT.unreadable, `read ${path}`))).bytes;
}

function evidenceBeside(path: string): Uint8Array | EvidenceTrouble | undefined {
  try {
    return readFound(path, MAX_EVIDENCE_BYTES);
  } catch (error) {
    return { trouble: `can't read ${path}`, why: fileTrouble(error) };
  }
}
