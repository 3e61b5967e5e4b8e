import { existsSync } from "node:fs";
import { access, constants } from "node:fs/promises";
import { dirname, join } from "node:path";
import {
  type Attestation,
  AttestError,
  attest as buyAttestation,
  attestBlock as buyBlock,
  type ChainName,
  formatUsdc,
  type PurchaseOptions,
  proveInclusion,
} from "@attestd/client";
import { fileVault } from "@attestd/client/file-vault";
import { type Bundle, matchTransactionId, signedPart } from "@attestd/proof";
import { receiptFile, receiptFileName } from "@attestd/web/receipt-file";
import { attestFailure } from "../attest-failure.ts";
import { printResult, progressLines } from "../attest-text.ts";
import { DEFAULT_WAIT } from "../command-line/options.ts";
import type { Environment } from "../environment.ts";
import { EXIT, type ExitCode, Failure, failsFor } from "../failure.ts";
import { readFound, writeWhole } from "../files.ts";
import { readKeys, trustForPrograms, trustOptions } from "../keys-file.ts";
import type { Working } from "../live-line.ts";
import { evidenceBeside } from "../purchase-evidence.ts";
import { sandboxKeys, standingSandbox } from "../sandbox-folder.ts";
import { withKeysOf } from "../served-keys.ts";
import { readWallet } from "../wallet-file.ts";

export type PurchaseCommandOptions = {
  service?: string;
  wallet?: string;
  keys?: string;
  maxPrice: string;
  /** Seconds; `true` without a value. */
  wait?: number | true;
  out?: string;
  /** Waits for the evidence, and saves it beside the bundle. */
  evidence?: boolean;
  json?: boolean;
};

/** Buys the attestation of a transaction. See `purchase`. */
export async function attest(
  txid: string,
  { chain, require, ...options }: PurchaseCommandOptions & { chain?: ChainName; require?: "succeeded" },
  environment: Environment,
): Promise<ExitCode> {
  const matched = chainOf(txid);
  if (chain !== undefined && chain !== matched)
    throw new Failure(EXIT.usage, `--chain is ${chain}, and ${txid} is of ${matched}`, ["Leave --chain out."]);
  const wanted = { txid, ...(chain && { chain }), ...(require && { require }) };
  return purchase((common) => buyAttestation({ ...common, ...wanted }), options, environment);
}

/** Buys the attestation of a block. See `purchase`. */
export async function attestBlock(
  chain: ChainName,
  blockHeight: string,
  options: PurchaseCommandOptions,
  environment: Environment,
): Promise<ExitCode> {
  const height = heightIn(blockHeight);
  return purchase((common) => buyBlock({ ...common, chain, height }), options, environment);
}

/** Buys the proof that a transaction is in a block. See `purchase`. */
export async function prove(
  txId: string,
  blockHeight: string,
  options: PurchaseCommandOptions,
  environment: Environment,
): Promise<ExitCode> {
  const chain = chainOf(txId);
  const height = heightIn(blockHeight);
  return purchase((common) => proveInclusion({ ...common, chain, txId, height }), options, environment);
}

/** @throws Failure `usage` */
function heightIn(text: string): number {
  const height = Number(text);
  if (/^(0|[1-9][0-9]{0,15})$/.test(text) && Number.isSafeInteger(height)) return height;
  throw new Failure(EXIT.usage, `the height of a block is a whole number, and is ${text}`);
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
async function purchase(buy: Buy, options: PurchaseCommandOptions, environment: Environment): Promise<ExitCode> {
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
    ...(options.wait !== undefined && {
      maxSourceWaitMs: 1000 * (options.wait === true ? DEFAULT_WAIT : options.wait),
    }),
    save: async (attestation: Attestation) => {
      file = await saveBundle(attestation, options.out);
    },
    onProgress: progressLines(people, working),
    signal,
  };
  try {
    const attestation = await buyOrAsk(buy, wanted, working, environment);
    printResult(people, attestation, { file, trusted, seconds: (performance.now() - started) / 1000 });
    if (options.evidence)
      working.show(`waiting for the evidence of round ${signedPart(attestation.bundle).attest.round}`);
    const beside = options.evidence ? await evidenceBeside(file, attestation, { service, trusted, signal }) : undefined;
    working.show(undefined);
    const found = beside instanceof Failure ? undefined : beside;
    if (found) people.marked("ok", `evidence ${found.file}`, 2);
    const shown = { ...(found?.report ?? attestation.report), ...(found && { evidenceFile: found.file }) };
    if (options.json) environment.out.json({ file, ...shown, trust: trustForPrograms(trusted) });
    if (beside instanceof Failure) throw beside;
    return attestation.report.verified ? EXIT.good : EXIT.notVerified;
  } catch (error) {
    throw attestFailure(error, { vault, inSandbox });
  }
}

export type Parties = Awaited<ReturnType<typeof parties>>;

/** The sandbox's wallet and keys are the defaults only for its own service: they are of no use elsewhere. */
export async function parties(
  options: Pick<PurchaseCommandOptions, "service" | "wallet" | "keys">,
  { stateFolder }: Environment,
) {
  const standing = standingSandbox();
  const sandbox = options.service === undefined || options.service === standing?.serviceUrl ? standing : undefined;
  const service = options.service ?? sandbox?.serviceUrl;
  const walletFile = options.wallet ?? sandbox?.folder.description;
  if (service === undefined || walletFile === undefined) {
    const missing = [service === undefined && "--service URL", walletFile === undefined && "--wallet FILE"];
    throw new Failure(EXIT.usage, `${missing.filter(Boolean).join(" and ")} must be given`, [
      "No sandbox of yours runs in ./.attestd to take them from.",
      "Without --keys FILE the bundle will be saved with its signer unknown.",
    ]);
  }
  const wallet = await readWallet(walletFile);
  const trusted = options.keys === undefined ? sandbox && (await sandboxKeys()) : await readKeys(options.keys);
  return {
    service,
    wallet: trusted ? withKeysOf(service, trusted, wallet) : wallet,
    trusted,
    vault: fileVault(sandbox?.folder.payments ?? paymentsIn(stateFolder)),
    inSandbox: sandbox !== undefined,
  };
}

/** @throws Failure `usage` where no payment could be stored before it is sent */
function paymentsIn(stateFolder: string | undefined): string {
  if (stateFolder !== undefined) return join(stateFolder, "payments");
  throw new Failure(EXIT.usage, "there is no folder for the signed payment", [
    "This user has no home folder: set HOME or XDG_STATE_HOME to an absolute path.",
  ]);
}

/** Asks at a terminal before signing for more in all than `--max-price`. */
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
    if (!(await mayPay(environment, question, wanted.signal))) throw error;
    return buyOrAsk(buy, { ...wanted, maxPrice: asked }, working, environment, signed);
  }
}

/** Asks whether to pay. @returns false without a terminal. @throws AttestError `interrupted` */
export async function mayPay({ ask }: Environment, question: string, signal: AbortSignal): Promise<boolean> {
  const answer = await ask(question, signal).catch((cause: unknown) => {
    throw new AttestError("interrupted", "Interrupted.", { cause });
  });
  return answer === true;
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
  // First: if the bundle is there, so is its receipt.
  if (signedReceipt) await writeWhole(receiptFileName(path), receiptFile(signedReceipt.jws), 0o666);
  await writeWhole(path, bundleBytes, 0o666);
  return path;
}

function hasBytes(path: string, bytes: Uint8Array): boolean {
  try {
    return readFound(path, bytes.length)?.equals(bytes) === true;
  } catch {
    // Another thing has the name.
    return false;
  }
}

function subjectName(bundle: Bundle): string {
  if (!("block" in bundle)) return bundle.source.txnId.slice(0, 6);
  const { chain, height } = bundle.block;
  return "source" in bundle ? `${bundle.source.txnId.slice(0, 6)}-in-${height}` : `${chain}-${height}`;
}
