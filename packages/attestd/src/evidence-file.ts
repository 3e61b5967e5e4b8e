import { join } from "node:path";
import { isProofError } from "@attestd/proof";
import { itemOf, MAX_EVIDENCE_BYTES, parseEvidence, withEvidence } from "@attestd/proof/evidence";
import { MAX_STATE_PROOF_BYTES } from "@attestd/proof/state-proof";
import type { Checked } from "./checked-file.ts";
import { checkpointTrusts, trustOf, trustOptions } from "./checkpoint-files.ts";
import { EXIT, Failure, failsFor } from "./failure.ts";
import { readFound, readNamed } from "./files.ts";

/** The evidence of one bundle, or in each certificate, or beside each bundle, the checkpoints that the user trusts, and a folder of state proofs. */
export type EvidenceFiles = {
  evidence?: string;
  /** Files, or names of shipped ones. */
  checkpoint?: string[];
  /** Roots of tables, lower-case hex. */
  checkpointRoot?: string[];
  stateProofs?: string;
};

/**
 * Reads what is trusted, and how to find evidence: the file that is named, or beside each bundle where none is.
 * @param isMany some of several bundles may have none
 * @returns adds to a checked bundle what its evidence shows; throws Failure `unreadable` for evidence that is no JSON
 * @throws Failure
 */
export async function evidenceCheck(files: EvidenceFiles, isMany: boolean) {
  const { evidence, checkpoint = [], checkpointRoot = [], stateProofs } = files;
  const trusts = await checkpointTrusts(checkpoint, checkpointRoot);
  // Found faulty before the first bundle is checked.
  const named = evidence === undefined ? undefined : await readEvidenceFile(evidence);
  const memory = new Map();
  const options = { ...trustOptions(trusts), memory, ...(stateProofs !== undefined && stateProofsIn(stateProofs)) };
  return async (checked: Checked): Promise<Checked> => {
    const file = evidence ?? evidenceFileName(checked.answer ?? checked.file);
    const carried = named ?? checked.evidence;
    const bytes = carried ?? evidenceBeside(file);
    if (bytes === undefined) {
      if (isMany) return checked;
      throw new Failure(EXIT.unreadable, `can't read ${file}`, ["There is no such file."]);
    }
    try {
      const report = withEvidence(checked.report, checked.bytes, bytes, options);
      const withIt = { ...checked, report, evidence: bytes };
      if (report.recordedBy === undefined) return withIt;
      const proof = itemOf(parseEvidence(bytes), "algorand-state-proof/1");
      const trust = proof && trustOf(proof.item, trusts);
      return { ...withIt, ...(trust && { restsOn: { basis: trust.basis, name: trust.name } }) };
    } catch (error) {
      if (!isProofError(error, "json")) throw error;
      const why = error.fault === "too_large" ? `More than ${MAX_EVIDENCE_BYTES / 2 ** 20} MiB.` : `${error.message}.`;
      throw new Failure(EXIT.unreadable, `${file} is no evidence`, [`Not JSON: ${why}`]);
    }
  };
}

/** The file beside a bundle's that has its evidence. */
export function evidenceFileName(bundleName: string): string {
  return `${bundleName.replace(/\.(json|pdf|svg)$/i, "")}.evidence.json`;
}

/** The file in a folder that has the state proof of a hash, in lower-case hex: its canonical msgpack. */
export function stateProofFile(folder: string, sha256: string): string {
  return join(folder, `${sha256}.msgpack`);
}

/** Finds state proofs in a folder. What can't be read is none; the bytes are held to the hash by who asks. */
function stateProofsIn(folder: string) {
  return {
    stateProof(sha256: string): Uint8Array | undefined {
      const file = stateProofFile(folder, sha256);
      try {
        return readFound(file, MAX_STATE_PROOF_BYTES);
      } catch {
        return undefined;
      }
    },
  };
}

async function readEvidenceFile(path: string): Promise<Uint8Array> {
  return (await readNamed(path, MAX_EVIDENCE_BYTES).catch(failsFor(EXIT.unreadable, `read ${path}`))).bytes;
}

function evidenceBeside(path: string): Uint8Array | undefined {
  try {
    return readFound(path, MAX_EVIDENCE_BYTES);
  } catch (error) {
    return failsFor(EXIT.unreadable, `read ${path}`)(error);
  }
}
