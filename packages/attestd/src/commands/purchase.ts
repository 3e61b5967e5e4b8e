import { existsSync } from "node:fs";
import { access, constants, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type Attestation, AttestError, formatUsdc, type PurchaseOptions, type Wallet } from "@attestd/client";
import { type FileVault, fileVault } from "@attestd/client/file-vault";
import type { Bundle } from "@attestd/proof";
import { attestFailure } from "../attest-failure.ts";
import { conclusion, progressLines } from "../attest-text.ts";
import type { Environment } from "../environment.ts";
import { EXIT, type ExitCode, Failure, failsFor } from "../failure.ts";
import { writeWhole } from "../files.ts";
import { type Believed, readKeys, trustOptions } from "../keys-file.ts";
import type { Working } from "../live-line.ts";
import { stated } from "../report-text.ts";
import { sandboxKeys, standingSandbox } from "../sandbox-folder.ts";
import { readWallet } from "../wallet-file.ts";

export type PurchaseCommandOptions = {
  service?: string;
  wallet?: string;
  keys?: string;
  maxPrice: string;
  out?: string;
  json?: boolean;
};

/** One of the client's functions that buy. */
type Buy<B extends Bundle> = (options: PurchaseOptions<B>) => Promise<Attestation<B>>;

/**
 * Buys one bundle, checks it and saves it. An earlier run that did not finish is continued: its signed payment is in a
 * file.
 *
 * @returns `notVerified` also for a saved bundle whose signer is unknown
 * @throws Failure
 */
export async function purchase<B extends Bundle>(
  buy: Buy<B>,
  options: PurchaseCommandOptions,
  environment: Environment,
): Promise<ExitCode> {
  const signal = environment.stop();
  const { service, wallet, believed, vault, inSandbox } = await parties(options, environment);
  await checkFolder(options.out);

  const people = options.json ? environment.err : environment.out;
  using working = environment.working("asking for the price");
  const started = performance.now();
  let file = "";
  const wanted: PurchaseOptions<B> & { signal: AbortSignal } = {
    service,
    wallet,
    maxPrice: options.maxPrice,
    ...trustOptions(believed),
    vault,
    save: async (attestation) => {
      file = await saveBundle(attestation, options.out);
    },
    onProgress: progressLines(people, working),
    signal,
  };
  try {
    const attestation = await buyOrAsk(buy, wanted, working, environment);
    conclusion(people, attestation, { file, believed, seconds: (performance.now() - started) / 1000 });
    if (options.json) environment.out.json({ file, ...attestation.report, trust: stated(believed) });
    return attestation.report.verified ? EXIT.good : EXIT.notVerified;
  } catch (error) {
    if (!(error instanceof AttestError)) throw error;
    throw attestFailure(error, { storedIn: error.paymentId && vault.path(error.paymentId), inSandbox });
  }
}

type Parties = {
  service: string;
  wallet: Wallet;
  believed: Believed | undefined;
  vault: FileVault;
  inSandbox: boolean;
};

/** The sandbox's wallet and keys are the defaults only for its own service: they are of no use elsewhere. */
async function parties(options: PurchaseCommandOptions, { stateFolder }: Environment): Promise<Parties> {
  const standing = await standingSandbox();
  const sandbox = options.service === undefined || options.service === standing?.serviceUrl ? standing : undefined;
  const service = options.service ?? sandbox?.serviceUrl;
  const walletFile = options.wallet ?? sandbox?.folder.description;
  if (service === undefined || walletFile === undefined) {
    const missing = [service === undefined && "--service URL", walletFile === undefined && "--wallet FILE"];
    throw new Failure(EXIT.usage, `${missing.filter(Boolean).join(" and ")} must be given`, [
      "No sandbox stands in ./.attestd to take them from.",
      "Without --keys FILE the bundle will be saved with its signer unknown.",
    ]);
  }
  return {
    service,
    wallet: await readWallet(walletFile),
    believed: options.keys === undefined ? sandbox && (await sandboxKeys()) : await readKeys(options.keys),
    vault: fileVault(sandbox?.folder.payments ?? join(stateFolder, "payments")),
    inSandbox: sandbox !== undefined,
  };
}

/** Asks at a terminal before paying more than `--max-price`. */
async function buyOrAsk<B extends Bundle>(
  buy: Buy<B>,
  wanted: PurchaseOptions<B> & { signal: AbortSignal },
  working: Working,
  { ask }: Environment,
): Promise<Attestation<B>> {
  try {
    return await buy(wanted);
  } catch (error) {
    const price = error instanceof AttestError && error.code === "price_too_high" ? error.price : undefined;
    if (price === undefined) throw error;
    const asked = formatUsdc(price);
    const question = `The service asks ${asked} USDC, more than the ${wanted.maxPrice} allowed. Pay it?`;
    working.say(undefined);
    const isAllowed = await ask(question, wanted.signal).catch((cause: unknown) => {
      throw new AttestError("interrupted", "Interrupted.", { cause });
    });
    if (!isAllowed) throw error;
    return buy({ ...wanted, maxPrice: asked });
  }
}

/** Checks before paying that the bundle can be saved. */
async function checkFolder(out: string | undefined): Promise<void> {
  const folder = out === undefined ? "." : dirname(out);
  const failure = failsFor(EXIT.usage, `save into ${folder}`, "folder", "Choose another file: --out.");
  await access(folder, constants.W_OK).catch(failure);
}

/** @returns the path: `--out`, or else a name from the bundle's subject, numbered if another bundle has it */
async function saveBundle({ bundle, bundleBytes }: Attestation, out: string | undefined): Promise<string> {
  const name = `${subjectName(bundle)}-${bundle.attest.round}`;
  let path = out ?? `${name}.json`;
  for (let n = 2; out === undefined && existsSync(path) && !(await readFile(path)).equals(bundleBytes); n++) {
    path = `${name}-${n}.json`;
  }
  await writeWhole(path, bundleBytes, 0o666);
  return path;
}

function subjectName(bundle: Bundle): string {
  if (!("block" in bundle)) return bundle.source.txnId.slice(0, 6);
  const { chain, height } = bundle.block;
  return "source" in bundle ? `${bundle.source.txnId.slice(0, 6)}-in-${height}` : `${chain}-${height}`;
}
