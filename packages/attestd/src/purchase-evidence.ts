import { type Attestation, AttestError, fetchEvidence } from "@attestd/client";
import { parseNote, signedPart, type VerifyReport } from "@attestd/proof";
import { DEFAULT_WAIT } from "./command-line/options.ts";
import { evidenceFileName } from "./evidence-file.ts";
import { EXIT, Failure, failsFor } from "./failure.ts";
import { writeWhole } from "./files.ts";
import { type TrustedKeys, trustOptions } from "./keys-file.ts";
import { isSandboxLedger } from "./sandbox-folder.ts";

/** A sandbox's state proofs come within seconds. */
const SANDBOX_PAUSE_MS = 1_000;

type From = { service: string; trusted: TrustedKeys | undefined; signal: AbortSignal };

/**
 * Waits for the evidence of a bundle that was just bought, and saves it beside the bundle.
 * @returns the file and the report of both, or why there is none: the bundle is saved all the same
 */
export async function evidenceBeside(
  file: string,
  { bundle, bundleBytes }: Attestation,
  { service, trusted, signal }: From,
): Promise<{ file: string; report: VerifyReport } | Failure> {
  const path = evidenceFileName(file);
  const isOfSandbox = isSandboxLedger(parseNote(signedPart(bundle).attest.note).g);
  const pause = isOfSandbox ? { intervalMs: SANDBOX_PAUSE_MS } : {};
  try {
    const wanted = { service, bundle: bundleBytes, ...trustOptions(trusted), maxWaitMs: DEFAULT_WAIT * 1000 };
    const { evidenceBytes, report } = await fetchEvidence({ ...wanted, ...pause, signal });
    await writeWhole(path, evidenceBytes, 0o666).catch(failsFor(EXIT.usage, `write ${path}`, "folder"));
    return { file: path, report };
  } catch (error) {
    if (error instanceof Failure) return error;
    if (!(error instanceof AttestError)) throw error;
    const code = error.code === "interrupted" ? EXIT.interrupted : EXIT.unreachable;
    const later = `From a node of your own: attestd evidence ${file} --algod URL`;
    return new Failure(code, `${file} is saved, and its evidence is not`, [error.message, later], error);
  }
}
