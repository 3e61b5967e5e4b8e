import { readFile } from "node:fs/promises";
import { isProofError, parseJson } from "@attestd/proof";
import { MAX_EVIDENCE_BYTES, readCheckpointRoot, withEvidence } from "@attestd/proof/evidence";
import { type Checkpoint, readCheckpoint } from "@attestd/proof/state-proof";
import type { Checked } from "./checked-file.ts";
import { EXIT, Failure, failsFor } from "./failure.ts";
import { fault } from "./keys-file.ts";

/** The file of evidence, and the checkpoints that the user trusts: files, or roots of tables in hex. */
export type EvidenceFiles = { evidence?: string; checkpoint?: string[] };

/** Adds to a checked bundle what the evidence shows. @throws Failure `unreadable` for evidence that is no JSON */
export type EvidenceCheck = (checked: Checked) => Checked;

/** Reads the evidence and the checkpoints. @throws Failure */
export async function evidenceCheck(evidence: string, named: readonly string[]): Promise<EvidenceCheck> {
  const bytes = await readFile(evidence).catch(failsFor(EXIT.unreadable, `read ${evidence}`));
  const roots = named.filter(isRoot);
  const checkpoints = await Promise.all(named.filter((one) => !isRoot(one)).map(readCheckpointFile));
  return (checked) => {
    try {
      return { ...checked, report: withEvidence(checked.report, checked.bytes, bytes, { roots, checkpoints }) };
    } catch (error) {
      if (!isProofError(error, "json")) throw error;
      const why = error.fault === "too_large" ? `More than ${MAX_EVIDENCE_BYTES / 2 ** 20} MiB.` : `${error.message}.`;
      throw new Failure(EXIT.unreadable, `${evidence} is no evidence`, [`Not JSON: ${why}`]);
    }
  };
}

function isRoot(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text) && readCheckpointRoot(text, "") === text;
}

async function readCheckpointFile(path: string): Promise<Checkpoint> {
  const bytes = await readFile(path).catch(
    failsFor(EXIT.unreadable, `read ${path}`, "file", "Name a file, or the root of a table: 64 hex digits."),
  );
  try {
    return readCheckpoint(parseJson(bytes), "");
  } catch (error) {
    throw new Failure(EXIT.unreadable, `${path} is not a checkpoint`, [fault(error)], error);
  }
}
