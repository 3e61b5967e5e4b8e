import { AttestError, withChainOf } from "@attestd/client/chain-check";
import {
  ALGORAND_MAINNET,
  type Bundle,
  isProofError,
  mayAskChain,
  parseBundle,
  parseJson,
  type VerifyReport,
  verify,
} from "@attestd/proof";
import type { CertificateJudgement } from "@attestd/web";
import type { BundleInFile } from "@attestd/web/bundle-file";
import { historyOf } from "@attestd/web/trust-basis";
import { notJson, readBundle } from "./bundle-file.ts";
import type { Environment } from "./environment.ts";
import { EXIT, Failure } from "./failure.ts";
import { type Believed, pinnedKeys, readKeys, trustOptions } from "./keys-file.ts";
import { isSandboxLedger, sandboxKeys, standingSandbox } from "./sandbox-folder.ts";

/** Options of every command that checks bundles: the keys to trust, and the service to ask. */
export type TrustOptions = {
  keys?: string;
  kid?: string[];
  ledger?: string;
  chain?: boolean;
  service?: string;
};

/** The result for one file. */
export type Result = { file: string } & (
  | {
      kind: "judged";
      report: VerifyReport;
      bundle: Bundle | undefined;
      /** UTF-8 of the bundle: the file, or what a certificate carries. */
      bytes: Uint8Array;
      /** For a certificate: whether its text is that of its bundle. */
      certificate?: CertificateJudgement;
      /** Why the ledger could not be asked. */
      ledgerTrouble?: string;
    }
  | { kind: "unreadable"; why: string }
);

/** @returns undefined when no keys are given and there is no sandbox here. @throws Failure */
export async function trustedKeys({ keys, kid, ledger }: TrustOptions): Promise<Believed | undefined> {
  if (kid) return pinnedKeys(kid, ledger);
  if (ledger)
    throw new Failure(EXIT.usage, "--ledger says where the keys of --kid record", ["Name them too: --kid KID."]);
  if (keys !== undefined) return readKeys(keys);
  return sandboxKeys();
}

/**
 * The sandbox's service is the default only for bundles of that sandbox: it knows no other ledger.
 * @returns undefined without `--chain`. @throws Failure `usage`
 */
export async function serviceToAsk(
  { chain, service }: TrustOptions,
  believed: Believed | undefined,
): Promise<string | undefined> {
  if (!chain) {
    if (service !== undefined)
      throw new Failure(EXIT.usage, "--service is asked only with --chain", ["Give both, or neither."]);
    return undefined;
  }
  const ofSandbox = believed !== undefined && isSandboxLedger(believed.trust.ledger ?? ALGORAND_MAINNET);
  const asked = service ?? (ofSandbox ? (await standingSandbox())?.serviceUrl : undefined);
  if (asked !== undefined) return asked;
  throw new Failure(EXIT.usage, "--chain needs a service to ask", ["Name it: --service URL."]);
}

/**
 * Reads and checks the bundle in a file.
 *
 * @param file a path, or `-` for standard input
 * @param service that compares with the chains; undefined for none
 */
export async function judgeFile(
  file: string,
  believed: Believed | undefined,
  service: string | undefined,
  environment: Environment,
): Promise<Result> {
  try {
    const contents = await readBundle(file, () => environment.stdin);
    const { bytes } = contents;
    const report = verify(bytes, trustOptions(believed));
    const bundle = report.checks.schema === "pass" ? parseBundle(parseJson(bytes)) : undefined;
    const found = { kind: "judged", file, bundle, bytes, ...(await certificateOf(contents, believed)) } as const;
    if (service === undefined || !mayAskChain(report)) return { ...found, report };
    return { ...found, ...(await online(service, bytes, report)) };
  } catch (error) {
    if (isProofError(error, "json")) return { kind: "unreadable", file, why: notJson(error) };
    if (error instanceof Failure) return { kind: "unreadable", file, why: error.message };
    throw error;
  }
}

/** Loads the code for certificates only for a certificate. */
async function certificateOf(contents: BundleInFile & { file: Uint8Array }, believed: Believed | undefined) {
  if (contents.from === "json") return {};
  const { certificateIn } = await import("@attestd/web");
  return certificateIn(contents.file, contents, historyOf(believed?.trust));
}

async function online(service: string, bytes: Uint8Array, report: VerifyReport) {
  try {
    return { report: await withChainOf(service, bytes, report) };
  } catch (error) {
    if (error instanceof AttestError) return { report, ledgerTrouble: error.message };
    throw error;
  }
}
