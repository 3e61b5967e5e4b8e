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
  MAX_FILE_BYTES,
  maxBytesOf,
  readFileContents,
} from "@attestd/web/bundle-file";
import { type JudgedBundle, judgeBundle, judgeText } from "@attestd/web/judge";
import { judgeReceipt, type ReceiptFindings, receiptFileName } from "@attestd/web/receipt-file";
import { UNREADABLE } from "@attestd/web/words";
import { EXIT, type ExitCode, Failure } from "../failure.ts";
import { readBeside, readSource, type Source, tooLarge } from "../files/sources.ts";
import type { TrustOptions } from "../options.ts";
import type { Environment } from "../terminal/environment.ts";
import type { ChainCheck } from "./chain-check.ts";
import type { CheckpointTrust } from "./checkpoints.ts";
import { readKeys, type TrustedKeys, trustOptions } from "./keys.ts";
import { sandboxKeys } from "./sandbox-folder.ts";

/** A bundle's file that was read and judged. */
export type Checked = JudgedBundle & {
  kind: "checked";
  /** The file's name; for a bundle in a batch's answer, with the bundle's place there. */
  file: string;
  /** For a bundle in a batch's answer: the name of the answer's file. */
  answer?: string;
  /** What the evidence of the bundle rests on, among all that the user trusts. */
  restsOn?: Pick<CheckpointTrust, "basis" | "name">;
  /** Why the ledger could not be asked. */
  ledgerTrouble?: string;
  /** The receipt in the file beside it. */
  payment?: CheckedReceipt;
};

/** A receipt of a payment, and the findings about it. */
export type CheckedReceipt = { kind: "receipt"; file: string; findings: ReceiptFindings };

type UnreadableFile = { kind: "unreadable"; file: string; why: string; exitCode: ExitCode };

/** The result for one file. `other`: a file of another kind, which was found in a folder. */
export type Result = Checked | CheckedReceipt | UnreadableFile | { kind: "other"; file: string };

/** What bundles are checked with. */
export type Checking = {
  trusted: TrustedKeys | undefined;
  /** Compares bundles with the chains; undefined if that was not asked for. */
  chains: ChainCheck | undefined;
  environment: Environment;
};

/** The results for one source: several for a batch. */
type Results = [Result, ...Result[]];

/** Reads the keys that the options name. @returns undefined without keys and without a sandbox here. @throws Failure */
export async function trustedKeys({ keys, kid, ledger }: TrustOptions): Promise<TrustedKeys | undefined> {
  if (kid)
    return { trust: { kids: kid, ledger: ledger ?? ALGORAND_MAINNET }, basis: { basis: "kid", name: kid.join(" ") } };
  if (ledger) throw new Failure(EXIT.usage, "--ledger is the ledger of the keys of --kid", ["Add --kid KID."]);
  return keys === undefined ? sandboxKeys() : readKeys(keys);
}

/**
 * Reads and checks what is in a file: a bundle or a certificate, with the receipt beside it; a receipt alone; the answer of a
 * batch, or its certificate.
 *
 * @returns one result; for a batch one for each item, and one for the receipt beside its answer
 */
export async function checkSource(source: Source, checking: Checking): Promise<Results> {
  const { name: file } = source;
  const content = await readSource(source, () => checking.environment.stdin, MAX_BATCH_FILE_BYTES);
  if (!Buffer.isBuffer(content)) return [{ ...content, file }];
  try {
    return await checkContent(source, content, checking);
  } catch (error) {
    if (isProofError(error, "json")) return [unreadable(file, notJson(error))];
    if (!isProofError(error, "format")) throw error;
    return [unreadable(file, UNREADABLE.notWholeBatch(error.pointer ?? "", error.message))];
  }
}

function unreadable(file: string, why: string): UnreadableFile {
  return { kind: "unreadable", file, why, exitCode: EXIT.unreadable };
}

async function checkBatch(
  { name: answer, kind }: Source,
  content: Uint8Array,
  batch: BatchInFile,
  checking: Checking,
): Promise<Results> {
  const [first, ...others] = bundlesInBatch(batch.bytes);
  const { evidence } = batch;
  const certificate = await judgeText(content, batch, checking.trusted?.trust);
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

/** @throws ProofError `json` or `format` */
async function checkContent(source: Source, content: Uint8Array, checking: Checking): Promise<Results> {
  const { name: file, isFound } = source;
  const { trusted } = checking;
  const isOther = isFound && lacksMarksOfBundles(content);
  const contents = await readFileContents(content).catch((error: unknown) => {
    if (isOther && isProofError(error, "json")) return { kind: "other" } as const;
    if (content.length > MAX_FILE_BYTES) return { kind: "too large" } as const;
    throw error;
  });
  if (contents.kind === "too large") return [{ ...tooLarge(content.length), file }];
  if (contents.kind === "batch") return checkBatch(source, content, contents, checking);
  if (content.length > maxBytesOf(contents)) return [{ ...tooLarge(content.length), file }];
  if (contents.kind === "receipt")
    return [{ kind: "receipt", file, findings: judgeReceipt(contents.jws, trusted?.trust) }];
  if (contents.kind !== "bundle" || (isOther && contents.from === "json")) {
    if (isFound || contents.kind === "bundle") return [{ kind: "other", file }];
    return [unreadable(file, contents.kind === "broken" ? contents.why : OTHER_KINDS[contents.kind])];
  }
  const checked = await checkBundle(file, content, contents, checking);
  const payment =
    source.kind === "file" && contents.from === "json" ? await receiptBeside(checked, trusted) : undefined;
  return [{ ...checked, ...(payment && { payment }) }];
}

/** Text that every bundle contains, also one that is no longer JSON. */
const MARKS_OF_BUNDLES = ["pqPublicKey", "sigBase64"];

/** Whether the content of a file shows that it is no bundle, not even a damaged one. */
function lacksMarksOfBundles(content: Uint8Array): boolean {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.length);
  // In UTF-16 of either order there is a zero byte between the letters.
  const has = (mark: string) => bytes.includes(mark) || bytes.includes([...mark].join("\0"));
  return bytes.length > 0 && !MARKS_OF_BUNDLES.some(has);
}

/** Why a named file of another kind is not checked. */
const OTHER_KINDS = {
  evidence: "Evidence, not a bundle: name it with --evidence, and a bundle as the file.",
  checkpoint: "A checkpoint, not a bundle: name it with --checkpoint, and a bundle as the file.",
  keys: "A key history, not a bundle: name it with --keys, and a bundle as the file.",
  other: `${UNREADABLE.notBundle} \`attestd inspect\` shows what else it may be.`,
};

async function checkBundle(
  file: string,
  content: Uint8Array,
  contents: BundleInFile,
  { trusted, chains }: Checking,
): Promise<Checked> {
  const checked = { kind: "checked", file, ...(await judgeBundle(content, contents, trustOptions(trusted))) } as const;
  const { bytes, report } = checked;
  if (chains === undefined || !mayAskChain(report)) return checked;
  const compared = await chains.compare(bytes, report);
  return "undecided" in compared ? { ...checked, ledgerTrouble: compared.undecided } : { ...checked, report: compared };
}

/** Whether a file's name says that it has the receipt of the bundle in the other file: it is checked with the bundle then. */
export function isReceiptOf(name: string, bundleName: string): boolean {
  return name === receiptFileName(bundleName) && name !== bundleName;
}

async function receiptBeside(checked: Checked, trusted: TrustedKeys | undefined): Promise<CheckedReceipt | undefined> {
  const file = receiptFileName(checked.file);
  const content = readBeside(file);
  if (content === undefined) return undefined;
  const failed = (why: string): CheckedReceipt => ({ kind: "receipt", file, findings: { conclusion: "failed", why } });
  if (!Buffer.isBuffer(content)) return failed(content.why);
  const contents = await readFileContents(content).catch((error: Error) => failed(error.message));
  if ("findings" in contents) return contents;
  if (contents.kind !== "receipt") return failed("not a receipt");
  const { kid } = checked.report.attestor;
  const pqPublicKey = checked.bundle && signedPart(checked.bundle).attestor.pqPublicKey;
  const key = checked.report.verified && kid && pqPublicKey ? { kid, pqPublicKey } : undefined;
  return { kind: "receipt", file, findings: judgeReceipt(contents.jws, trusted?.trust, key) };
}

/** A sentence about content that is not JSON. */
export function notJson({ fault, line, message }: ProofError): string {
  if (fault === "too_large") return `More than ${MAX_BUNDLE_BYTES / 2 ** 20} MiB; bundles are smaller.`;
  return fault === "syntax" ? `Not JSON (line ${line}).` : `Not JSON: ${message}.`;
}
