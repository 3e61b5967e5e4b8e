import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { AttestError, withChainOf } from "@attestd/client/chain-check";
import {
  ALGORAND_MAINNET,
  type Bundle,
  isProofError,
  MAX_BUNDLE_BYTES,
  mayAskChain,
  type ProofError,
  parseBundle,
  parseJson,
  type VerifyReport,
  verify,
} from "@attestd/proof";
import { type BundleInFile, MAX_FILE_BYTES, readFileContents } from "@attestd/web/bundle-file";
import { historyOf } from "@attestd/web/trust-basis";
import type { FileFindings } from "@attestd/web/verdict";
import type { Environment } from "./environment.ts";
import { EXIT, Failure, fileTrouble } from "./failure.ts";
import { readKeys, type TrustedKeys, trustOptions } from "./keys-file.ts";
import { isSandboxLedger, sandboxKeys, standingSandbox } from "./sandbox-folder.ts";
import type { Input } from "./terminal.ts";

/** Options of every command that checks bundles: the keys to trust, and the service to ask. */
export type TrustOptions = {
  keys?: string;
  kid?: string[];
  ledger?: string;
  chain?: boolean;
  service?: string;
};

/** A file that was read, and the report about it. */
export type Checked = FileFindings & {
  kind: "checked";
  file: string;
  /** Absent when the bundle's form is wrong. */
  bundle: Bundle | undefined;
  /** UTF-8 of the bundle: the file, or what a certificate contains. */
  bytes: Uint8Array;
  /** Why the ledger could not be asked. */
  ledgerTrouble?: string;
};

/** The result for one file. */
export type Result = Checked | { kind: "unreadable"; file: string; why: string };

/** @returns undefined when no keys are given and there is no sandbox here. @throws Failure */
export async function trustedKeys({ keys, kid, ledger }: TrustOptions): Promise<TrustedKeys | undefined> {
  if (kid)
    return { trust: { kids: kid, ledger: ledger ?? ALGORAND_MAINNET }, basis: { basis: "kid", name: kid.join(" ") } };
  if (ledger) throw new Failure(EXIT.usage, "--ledger is the ledger of the keys of --kid", ["Add --kid KID."]);
  return keys === undefined ? sandboxKeys() : readKeys(keys);
}

/**
 * The service that compares bundles with the chains. The sandbox's service is the default only for bundles of that sandbox:
 * it knows no other ledger.
 *
 * @returns undefined without `--chain`. @throws Failure `usage`
 */
export async function serviceToAsk(
  { chain, service }: TrustOptions,
  trusted: TrustedKeys | undefined,
): Promise<string | undefined> {
  if (!chain) {
    if (service !== undefined)
      throw new Failure(EXIT.usage, "--service is asked only with --chain", ["Give both, or neither."]);
    return undefined;
  }
  const ofSandbox = trusted !== undefined && isSandboxLedger(trusted.trust.ledger ?? ALGORAND_MAINNET);
  const asked = service ?? (ofSandbox ? (await standingSandbox())?.serviceUrl : undefined);
  if (asked !== undefined) return asked;
  throw new Failure(EXIT.usage, "--chain needs a service to ask", ["Name it: --service URL."]);
}

/**
 * Reads and checks the bundle in a file: the file itself, or the bundle that a certificate contains.
 *
 * @param file a path, or `-` for standard input
 * @param service that compares with the chains; undefined for none
 */
export async function checkFile(
  file: string,
  trusted: TrustedKeys | undefined,
  service: string | undefined,
  environment: Environment,
): Promise<Result> {
  try {
    const whole = await readBytes(file === "-" ? environment.stdin : file);
    const contents = await readFileContents(whole);
    if (contents.kind === "empty_certificate")
      throw new Failure(EXIT.unreadable, "This certificate carries no bundle.");
    if (contents.kind !== "bundle") throw new Failure(EXIT.unreadable, "Not an attestd bundle.");
    const { bytes } = contents;
    const report = verify(bytes, trustOptions(trusted));
    const bundle = report.checks.schema === "pass" ? parseBundle(parseJson(bytes)) : undefined;
    const checked = {
      kind: "checked",
      file,
      bundle,
      bytes,
      ...(await certificateOf(whole, contents, trusted)),
    } as const;
    if (service === undefined || !mayAskChain(report)) return { ...checked, report };
    return { ...checked, ...(await online(service, bytes, report)) };
  } catch (error) {
    if (isProofError(error, "json")) return { kind: "unreadable", file, why: notJson(error) };
    if (error instanceof Failure) return { kind: "unreadable", file, why: error.message };
    throw error;
  }
}

function notJson({ fault, line, message }: ProofError): string {
  if (fault === "too_large") return `More than ${MAX_BUNDLE_BYTES / 2 ** 20} MiB; bundles are smaller.`;
  return fault === "syntax" ? `Not JSON (line ${line}).` : `Not JSON: ${message}.`;
}

async function readBytes(from: string | Input): Promise<Buffer> {
  try {
    if (typeof from === "string") requireSize((await stat(from)).size);
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of typeof from === "string" ? createReadStream(from) : from) {
      chunks.push(Buffer.from(chunk));
      size += chunk.length;
      requireSize(size);
    }
    return Buffer.concat(chunks);
  } catch (error) {
    throw error instanceof Failure ? error : new Failure(EXIT.unreadable, fileTrouble(error));
  }
}

function requireSize(size: number): void {
  const megabytes = (size / 1e6).toFixed(1);
  if (size > MAX_FILE_BYTES) throw new Failure(EXIT.unreadable, `${megabytes} MB or more; bundles are smaller.`);
}

/** Loads the code for certificates only for a certificate. */
async function certificateOf(file: Uint8Array, contents: BundleInFile, trusted: TrustedKeys | undefined) {
  if (contents.from === "json") return {};
  const { judgeCertificate } = await import("@attestd/web");
  return { certificate: judgeCertificate(file, contents, historyOf(trusted?.trust)) };
}

async function online(service: string, bytes: Uint8Array, report: VerifyReport) {
  try {
    return { report: await withChainOf(service, bytes, report) };
  } catch (error) {
    if (error instanceof AttestError) return { report, ledgerTrouble: error.message };
    throw error;
  }
}
