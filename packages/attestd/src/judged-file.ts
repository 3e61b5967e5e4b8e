import { LedgerNotAsked, withChainOf } from "@attestd/client/chain-check";
import {
  ALGORAND_MAINNET,
  type Bundle,
  JsonError,
  mayAskChain,
  parseBundle,
  parseJson,
  type VerifyReport,
  verify,
} from "@attestd/proof";
import type { CertificateJudgement } from "@attestd/web";
import type { BundleInFile } from "@attestd/web/bundle-file";
import { historyOf } from "@attestd/web/trust-basis";
import { notJson, readBundle, Unreadable } from "./bundle-file.ts";
import type { Environment } from "./environment.ts";
import { EXIT, Failure } from "./failure.ts";
import { type Believed, pinnedKeys, readKeys, trustOptions } from "./keys-file.ts";
import { isSandboxLedger, sandboxKeys, standingSandbox } from "./sandbox-folder.ts";

/** Options by which every command that checks bundles is told whom to believe, and whom to ask. */
export type Whom = {
  keys?: string;
  kid?: string[];
  ledger?: string;
  chain?: boolean;
  service?: string;
};

/** What came of one file. */
export type Result = { file: string } & (
  | {
      kind: "judged";
      report: VerifyReport;
      bundle: Bundle | undefined;
      /** UTF-8 of the bundle: of the file, or of what a certificate carries. */
      bytes: Uint8Array;
      /** Of a certificate: whether its words are those of the bundle in it. */
      certificate?: CertificateJudgement;
      /** Why the ledger could not be asked. */
      ledgerTrouble?: string;
    }
  | { kind: "unreadable"; why: string }
);

/** @returns undefined where nothing is named and no sandbox stands here. @throws Failure */
export async function whoIsBelieved({ keys, kid, ledger }: Whom): Promise<Believed | undefined> {
  if (kid) return pinnedKeys(kid, ledger);
  if (ledger)
    throw new Failure(EXIT.usage, "--ledger says where the keys of --kid record", ["Name them too: --kid KID."]);
  if (keys !== undefined) return readKeys(keys);
  return sandboxKeys();
}

/**
 * A sandbox's service is asked unbidden only about what that sandbox recorded: it is no witness for another ledger.
 * @returns undefined where the chains are not to be asked. @throws Failure `usage`
 */
export async function serviceToAsk(
  { chain, service }: Whom,
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
 * @param service to compare with the chains, where that is wanted
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
    const unreadable = error instanceof JsonError ? notJson(error) : error;
    if (unreadable instanceof Unreadable) return { kind: "unreadable", file, why: unreadable.message };
    throw error;
  }
}

/** What makes certificates is loaded for them alone. */
async function certificateOf(contents: BundleInFile & { file: Uint8Array }, believed: Believed | undefined) {
  if (contents.from === "json") return {};
  const { certificateIn } = await import("@attestd/web");
  return certificateIn(contents.file, contents, historyOf(believed?.trust));
}

async function online(service: string, bytes: Uint8Array, report: VerifyReport) {
  try {
    return { report: await withChainOf(service, bytes, report) };
  } catch (error) {
    if (error instanceof LedgerNotAsked) return { report, ledgerTrouble: error.message };
    throw error;
  }
}
