import { existsSync } from "node:fs";
import { access, constants } from "node:fs/promises";
import { dirname } from "node:path";
import {
  type Attestation,
  AttestError,
  attest,
  attestBlock,
  type ChainName,
  fetchEvidence,
  formatUsdc,
  type PurchaseOptions,
  proveInclusion,
} from "@attestd/client";
import { type Bundle, matchTransactionId, parseNote, signedPart, type VerifyReport } from "@attestd/proof";
import { receiptFile, receiptFileName } from "@attestd/web/receipt-file";
import { EXIT, type ExitCode, Failure, failsFor, failureFor } from "../../failure.ts";
import { readFound, writeAtomically } from "../../files/files.ts";
import { DEFAULT_WAIT, type PurchaseOptions as Options, waitOf } from "../../options.ts";
import type { Environment } from "../../terminal/environment.ts";
import type { Working } from "../../terminal/terminal.ts";
import { evidenceFileName } from "../../trust/evidence-file.ts";
import { type TrustedKeys, trustForPrograms, trustOptions } from "../../trust/keys.ts";
import { isSandboxLedger } from "../../trust/sandbox-folder.ts";
import { parties } from "./parties.ts";
import { attestFailure, interrupted, printResult, progressLines } from "./text.ts";

/** A sandbox's state proofs come within seconds. */
const SANDBOX_PAUSE_MS = 1_000;

/** Buys the attestation of a transaction. See `purchase`. */
export async function buyAttestation(
  txid: string,
  { require, ...options }: Options & { require?: "succeeded" },
  environment: Environment,
): Promise<ExitCode> {
  chainOf(txid);
  return purchase((common) => attest({ ...common, txid, ...(require && { require }) }), options, environment);
}

/** Buys the attestation of a block. See `purchase`. */
export async function buyBlockAttestation(
  chain: ChainName,
  height: number,
  options: Options,
  environment: Environment,
): Promise<ExitCode> {
  return purchase((common) => attestBlock({ ...common, chain, height }), options, environment);
}

/** Buys the proof that a transaction is in a block. See `purchase`. */
export async function buyInclusionProof(
  txId: string,
  height: number,
  options: Options,
  environment: Environment,
): Promise<ExitCode> {
  const chain = chainOf(txId);
  return purchase((common) => proveInclusion({ ...common, chain, txId, height }), options, environment);
}

/** The chain whose transaction ids have this form. @throws Failure `usage` */
function chainOf(txid: string): ChainName {
  const matched = matchTransactionId(txid);
  if (matched !== undefined) return matched.chain.name;
  throw new Failure(EXIT.usage, `${txid} is not a transaction id`, [
    "Algorand's have 52 characters, A to Z and 2 to 7; Base's are 0x and 64 hex digits.",
  ]);
}

/** One of the client's functions that buy. */
type Buy = (options: PurchaseOptions) => Promise<Attestation>;

/**
 * Buys one bundle, checks it and saves it. If an earlier run signed a payment and did not finish, its payment is in a file
 * and is used again.
 *
 * @returns `notVerified` also for a saved bundle whose signer is unknown
 */
async function purchase(buy: Buy, options: Options, environment: Environment): Promise<ExitCode> {
  const signal = environment.stop();
  const { service, wallet, trusted, vault, inSandbox } = await parties(options, environment);
  await checkFolder(options.out);

  const people = options.json ? environment.err : environment.out;
  using working = environment.working("asking for the price");
  const started = performance.now();
  let file = "";
  const wanted = {
    service,
    wallet,
    maxPrice: options.maxPrice,
    ...trustOptions(trusted),
    vault,
    ...(options.wait !== undefined && { maxSourceWaitMs: 1000 * waitOf(options.wait) }),
    save: async (attestation: Attestation) => {
      file = await saveBundle(attestation, options.out);
    },
    onProgress: progressLines(people, working),
    signal,
  };
  const attestation = await buyOrAsk(buy, wanted, working, environment).catch((error: unknown) => {
    throw attestFailure(error, { vault, inSandbox });
  });
  printResult(people, attestation, { file, trusted, seconds: (performance.now() - started) / 1000 });
  if (options.evidence)
    working.show(`waiting for the evidence of round ${signedPart(attestation.bundle).attest.round}`);
  const evidence = options.evidence ? await saveEvidence(file, attestation, { service, trusted, signal }) : undefined;
  working.show(undefined);
  const found = evidence instanceof Failure ? undefined : evidence;
  if (found) people.marked("ok", `evidence ${found.file}`, 2);
  const shown = { ...(found?.report ?? attestation.report), ...(found && { evidenceFile: found.file }) };
  if (options.json) environment.out.json({ file, ...shown, trust: trustForPrograms(trusted) });
  if (evidence instanceof Failure) throw evidence;
  return attestation.report.verified ? EXIT.good : EXIT.notVerified;
}

/**
 * Buys; at a terminal, asks before signing for more in all than `--max-price`.
 * @param signedBefore micro-USDC that this command has signed already
 */
async function buyOrAsk(
  buy: Buy,
  wanted: PurchaseOptions & { signal: AbortSignal },
  working: Working,
  environment: Environment,
  signedBefore = 0n,
): Promise<Attestation> {
  try {
    return await buy(wanted);
  } catch (error) {
    if (!(error instanceof AttestError)) throw error;
    const { price, signed: signedNow = 0n } = error;
    const signed = signedBefore + signedNow;
    if (signed > 0n) error.signed = signed;
    if (error.code !== "price_too_high" || price === undefined) throw error;
    const asked = formatUsdc(price - signedNow);
    const already = signed > 0n ? `, and ${formatUsdc(signed)} USDC is signed already: together` : ",";
    const question = `The service asks ${asked} USDC${already} more than the ${wanted.maxPrice} allowed. Pay it?`;
    working.show(undefined);
    const answer = await environment.ask(question, wanted.signal);
    if (answer === "interrupted") throw interrupted(signed);
    if (answer !== "yes") throw error;
    return buyOrAsk(buy, { ...wanted, maxPrice: asked }, working, environment, signed);
  }
}

/** Checks before paying that the bundle can be saved. */
async function checkFolder(out: string | undefined): Promise<void> {
  const folder = out === undefined ? "." : dirname(out);
  const failure = failsFor(EXIT.usage, `save into ${folder}`, "folder", "Choose another file: --out.");
  await access(folder, constants.W_OK).catch(failure);
}

/**
 * Saves a bundle, and the signed receipt beside it.
 * @returns the bundle's path: `--out`, or else a name from its subject, numbered if another bundle has it
 */
async function saveBundle(
  { bundle, bundleBytes, signedReceipt }: Attestation,
  out: string | undefined,
): Promise<string> {
  const name = `${subjectName(bundle)}-${signedPart(bundle).attest.round}`;
  let path = out ?? `${name}.json`;
  for (let n = 2; out === undefined && existsSync(path) && !hasBytes(path, bundleBytes); n++) {
    path = `${name}-${n}.json`;
  }
  // The receipt is saved first: if the bundle is there, so is its receipt.
  if (signedReceipt) await writeAtomically(receiptFileName(path), receiptFile(signedReceipt.jws), 0o666);
  await writeAtomically(path, bundleBytes, 0o666);
  return path;
}

function hasBytes(path: string, bytes: Uint8Array): boolean {
  try {
    return readFound(path, bytes.length)?.equals(bytes) === true;
  } catch {
    // Something else has the name.
    return false;
  }
}

function subjectName(bundle: Bundle): string {
  if (!("block" in bundle)) return bundle.source.txnId.slice(0, 6);
  const { chain, height } = bundle.block;
  return "source" in bundle ? `${bundle.source.txnId.slice(0, 6)}-in-${height}` : `${chain}-${height}`;
}

type From = { service: string; trusted: TrustedKeys | undefined; signal: AbortSignal };

/**
 * Waits for the evidence of a bundle that was just bought, and saves it beside the bundle.
 * @returns the file and the report on both, or why there is no evidence: the bundle is saved all the same
 */
export async function saveEvidence(
  file: string,
  { bundle, bundleBytes }: Attestation,
  { service, trusted, signal }: From,
): Promise<{ file: string; report: VerifyReport } | Failure> {
  const path = evidenceFileName(file);
  const isOfSandbox = isSandboxLedger(parseNote(signedPart(bundle).attest.note).g);
  const pause = isOfSandbox ? { intervalMs: SANDBOX_PAUSE_MS } : {};
  const wanted = { service, bundle: bundleBytes, ...trustOptions(trusted), maxWaitMs: DEFAULT_WAIT * 1000 };
  try {
    const { evidenceBytes, report } = await fetchEvidence({ ...wanted, ...pause, signal });
    const failure = failureFor(EXIT.usage, `write ${path}`, "folder");
    return (await writeAtomically(path, evidenceBytes, 0o666).catch(failure)) ?? { file: path, report };
  } catch (error) {
    if (!(error instanceof AttestError)) throw error;
    const code = error.code === "interrupted" ? EXIT.interrupted : EXIT.unreachable;
    const later = `From a node of your own: attestd evidence ${file} --algod URL`;
    return new Failure(code, `${file} is saved, but its evidence is not`, [error.message, later], error);
  }
}
