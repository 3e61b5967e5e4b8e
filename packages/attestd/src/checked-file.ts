import {
  ALGORAND_MAINNET,
  isProofError,
  MAX_BUNDLE_BYTES,
  mayAskChain,
  type ProofError,
  signedPart,
} from "@attestd/proof";
import { type BundleInBatch, bundlesInBatch } from "@attestd/web/batch-file";
import {
  type BatchInFile,
  type BundleInFile,
  MAX_BATCH_FILE_BYTES,
  maxBytesOf,
  readFileContents,
} from "@attestd/web/bundle-file";
import { type JudgedBundle, judgeBundle, judgeText } from "@attestd/web/judge";
import { judgeReceipt, type ReceiptFindings, receiptFileName } from "@attestd/web/receipt-file";
import { UNREADABLE } from "@attestd/web/words";
import type { ChainCheck, ChainOptions } from "./chain-check.ts";
import type { CheckpointTrust } from "./checkpoint-files.ts";
import type { Environment } from "./environment.ts";
import { EXIT, Failure } from "./failure.ts";
import { readKeys, type TrustedKeys, trustOptions } from "./keys-file.ts";
import { sandboxKeys } from "./sandbox-folder.ts";
import { readBeside, readSource, requireSize, type Source } from "./sources.ts";

/** Options of every command that checks bundles: the keys to trust, and whom to ask. */
export type TrustOptions = ChainOptions & { keys?: string; kid?: string[]; ledger?: string };

/** A bundle's file that was read and judged. */
export type Checked = JudgedBundle & {
  kind: "checked";
  /** Its name; of a bundle in a batch's answer, with its place in that. */
  file: string;
  /** The file of the batch's answer that it is in. */
  answer?: string;
  /** What the evidence beside it rests on, of all that the user trusts. */
  restsOn?: Pick<CheckpointTrust, "basis" | "name">;
  /** Why the ledger could not be asked. */
  ledgerTrouble?: string;
  /** The receipt in the file beside it. */
  payment?: CheckedReceipt;
};

/** A receipt of a payment, and the findings about it. */
export type CheckedReceipt = { kind: "receipt"; file: string; findings: ReceiptFindings };

export type Unreadable = { kind: "unreadable"; file: string; why: string; exitCode: number };

/** The result for one file. `other`: it was found in a folder, and is of another thing. */
export type Result = Checked | CheckedReceipt | Unreadable | { kind: "other"; file: string };

/** What bundles are checked with. */
export type Checking = {
  trusted: TrustedKeys | undefined;
  /** Compares them with the chains; undefined for none. */
  chains: ChainCheck | undefined;
  environment: Environment;
};

/** The results for one source: several for a batch. */
type Results = [Result, ...Result[]];

/** @returns undefined when no keys are given and there is no sandbox here. @throws Failure */
export async function trustedKeys({ keys, kid, ledger }: TrustOptions): Promise<TrustedKeys | undefined> {
  if (kid)
    return { trust: { kids: kid, ledger: ledger ?? ALGORAND_MAINNET }, basis: { basis: "kid", name: kid.join(" ") } };
  if (ledger) throw new Failure(EXIT.usage, "--ledger is the ledger of the keys of --kid", ["Add --kid KID."]);
  return keys === undefined ? sandboxKeys() : readKeys(keys);
}

/**
 * Reads and checks what is in a file: a bundle, or the one that a certificate contains, with the receipt beside it; a receipt
 * alone; the answer of a batch, or its certificate.
 *
 * @returns one result; of a batch one for each item, and one for the receipt beside its answer
 */
export async function checkSource(source: Source, checking: Checking): Promise<Results> {
  const { name: file } = source;
  try {
    const whole = await readSource(source, () => checking.environment.stdin, MAX_BATCH_FILE_BYTES);
    return await checkWhole(source, whole, checking);
  } catch (error) {
    const unreadable = { kind: "unreadable", file, exitCode: EXIT.unreadable } as const;
    if (isProofError(error, "json")) return [{ ...unreadable, why: notJson(error) }];
    if (isProofError(error, "format"))
      return [{ ...unreadable, why: UNREADABLE.notWholeBatch(error.pointer ?? "", error.message) }];
    if (error instanceof Failure) return [{ ...unreadable, why: error.message, exitCode: error.exitCode }];
    throw error;
  }
}

async function checkBatch(
  { name: answer, kind }: Source,
  whole: Uint8Array,
  batch: BatchInFile,
  checking: Checking,
): Promise<Results> {
  const [first, ...others] = bundlesInBatch(batch.bytes);
  const { evidence } = batch;
  const certificate = await judgeText(whole, batch, checking.trusted?.trust);
  const check = async ({ place, bytes }: BundleInBatch): Promise<Checked> => {
    const contents = { kind: "bundle", bytes, from: "json" } as const;
    return { ...(await checkBundle(`${answer}${place}`, bytes, contents, checking)), certificate, evidence, answer };
  };
  const checked: [Checked, ...Checked[]] = [await check(first)];
  for (const bundle of others) checked.push(await check(bundle));
  const receipt =
    kind === "file" && batch.from === "json"
      ? await receiptBeside({ ...checked[0], file: answer }, checking.trusted)
      : undefined;
  return receipt ? [...checked, receipt] : checked;
}

/** @throws ProofError `json`; Failure */
async function checkWhole(source: Source, whole: Uint8Array, checking: Checking): Promise<Results> {
  const { name: file, isFound } = source;
  const { trusted } = checking;
  const isOther = isFound && isForeign(whole);
  const contents = await readFileContents(whole).catch((error: unknown) => {
    if (isOther && isProofError(error, "json")) return { kind: "other" } as const;
    requireSize(whole.length);
    throw error;
  });
  if (contents.kind === "batch") return checkBatch(source, whole, contents, checking);
  requireSize(whole.length, maxBytesOf(contents));
  if (contents.kind === "receipt")
    return [{ kind: "receipt", file, findings: judgeReceipt(contents.jws, trusted?.trust) }];
  if (contents.kind !== "bundle" || (isOther && contents.from === "json")) {
    if (isFound || contents.kind === "bundle") return [{ kind: "other", file }];
    throw new Failure(EXIT.unreadable, contents.kind === "broken" ? contents.why : OTHERS[contents.kind]);
  }
  const checked = await checkBundle(file, whole, contents, checking);
  const payment =
    source.kind === "file" && contents.from === "json" ? await receiptBeside(checked, trusted) : undefined;
  return [{ ...checked, ...(payment && { payment }) }];
}

/** What every bundle has, even one that is no JSON any more. */
const MARKS_OF_BUNDLES = ["pqPublicKey", "sigBase64"];

/** Whether a file that a folder has beside bundles is certainly none. */
function isForeign(whole: Uint8Array): boolean {
  const bytes = Buffer.from(whole.buffer, whole.byteOffset, whole.length);
  // In UTF-16 of either order there is a zero byte between the letters.
  const has = (mark: string) => bytes.includes(mark) || bytes.includes([...mark].join("\0"));
  return bytes.length > 0 && !MARKS_OF_BUNDLES.some(has);
}

/** Why a file of something else is not checked. */
const OTHERS = {
  evidence: "Evidence, not a bundle: name it with --evidence, and a bundle as the file.",
  checkpoint: "A checkpoint, not a bundle: name it with --checkpoint, and a bundle as the file.",
  keys: "A key history, not a bundle: name it with --keys, and a bundle as the file.",
  other: `${UNREADABLE.notBundle} \`attestd inspect\` shows what else it may be.`,
};

async function checkBundle(
  file: string,
  whole: Uint8Array,
  contents: BundleInFile,
  { trusted, chains }: Checking,
): Promise<Checked> {
  const checked = { kind: "checked", file, ...(await judgeBundle(whole, contents, trustOptions(trusted))) } as const;
  const { bytes, report } = checked;
  if (chains === undefined || !mayAskChain(report)) return checked;
  try {
    return { ...checked, report: await chains.compare(bytes, report) };
  } catch (error) {
    if (error instanceof Failure) return { ...checked, ledgerTrouble: error.message };
    throw error;
  }
}

/** Whether the receipt's file of this name belongs to a bundle's file: it is checked with the bundle. */
export function isReceiptOf(name: string, bundleName: string): boolean {
  return name === receiptFileName(bundleName) && name !== bundleName;
}

async function receiptBeside(checked: Checked, trusted: TrustedKeys | undefined): Promise<CheckedReceipt | undefined> {
  const file = receiptFileName(checked.file);
  const { kid } = checked.report.attestor;
  const pqPublicKey = checked.bundle && signedPart(checked.bundle).attestor.pqPublicKey;
  const key = checked.report.verified && kid && pqPublicKey ? { kid, pqPublicKey } : undefined;
  const contents = await Promise.try(async () => {
    const bytes = readBeside(file);
    return bytes && (await readFileContents(bytes));
  }).catch((error: Error) => ({ kind: "failed", why: error.message }) as const);
  if (contents === undefined) return undefined;
  if (contents.kind === "receipt")
    return { kind: "receipt", file, findings: judgeReceipt(contents.jws, trusted?.trust, key) };
  const why = contents.kind === "failed" ? contents.why : "not a receipt";
  return { kind: "receipt", file, findings: { conclusion: "failed", why } };
}

/** A sentence about bytes that are no JSON. */
export function notJson({ fault, line, message }: ProofError): string {
  if (fault === "too_large") return `More than ${MAX_BUNDLE_BYTES / 2 ** 20} MiB; bundles are smaller.`;
  return fault === "syntax" ? `Not JSON (line ${line}).` : `Not JSON: ${message}.`;
}
