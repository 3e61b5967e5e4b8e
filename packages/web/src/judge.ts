import {
  isProofError,
  type KeyHistory,
  nobleCrypto,
  parseBundle,
  parseJson,
  parseKeyHistory,
  rememberingLast,
  type Trust,
  type VerifyReport,
  verify,
} from "@attestd/proof";
import { type Subject, subjectOf } from "@attestd/proof/description";
import type { JsonValue } from "@attestd/proof/json";
import { type BundleInBatch, bundlesInBatch } from "./batch-file.ts";
import { type BatchInFile, type BundleInFile, type FileContents, maxBytesOf, readFileContents } from "./bundle-file.ts";
import { judgeReceipt, type ReceiptFindings } from "./receipt-file.ts";
import type { StakeTrust } from "./stake.ts";
import { historyOf } from "./trust-basis.ts";
import { UNREADABLE } from "./words.ts";

export type JudgeOptions = {
  history?: KeyHistory | undefined;
  /** Seconds since the history was fetched. */
  historyAge: number;
  /** The evidence beside the bundle. */
  evidence?: Uint8Array | undefined;
  /** What of the ledger's stake is trusted. */
  stake?: readonly StakeTrust[];
};

export type Judgement =
  /** `evidence`: what it was judged with. */
  | ({ kind: "judged"; subject: Subject | undefined } & JudgedBundle)
  /** A whole batch; its bundles are still to be judged. */
  | ({ kind: "batch"; bundles: BundleInBatch[] } & JudgedText)
  | { kind: "receipt"; findings: ReceiptFindings }
  | { kind: "keys"; history: KeyHistory }
  | Extract<FileContents, { kind: "evidence" }>
  | { kind: "stake"; trust: Omit<StakeTrust, "name"> }
  | { kind: "unreadable"; why: string };

/** `bytes`: UTF-8 of the bundle, of a certificate the one in it. `bundle`: undefined where the schema failed. */
export type JudgedBundle = Awaited<ReturnType<typeof judgeBundle>>;
type JudgedText = Awaited<ReturnType<typeof judgedText>>;

/** Items of a batch are judged one after the other. */
const crypto = rememberingLast(nobleCrypto);

/** Verifies a bundle offline and, in a certificate, compares its text. @param file that the bundle is in */
export async function judgeBundle(
  file: Uint8Array,
  contents: BundleInFile,
  trusted: { trust?: Trust | undefined; historyAge?: number },
) {
  const { bytes } = contents;
  const report = verify(bytes, { ...trusted, crypto });
  const bundle = report.checks.schema === "pass" ? parseBundle(parseJson(bytes)) : undefined;
  return { report, bytes, bundle, ...(await judgedText(file, contents, historyOf(trusted.trust))) };
}

/** Reads a bundle, a batch, a certificate, a key history, evidence or a checkpoint, and judges a bundle offline. */
export async function judge(bytes: Uint8Array, options: JudgeOptions): Promise<Judgement> {
  const { history, historyAge } = options;
  try {
    const contents = await readFileContents(bytes);
    if (contents.kind !== "evidence" && contents.kind !== "batch" && bytes.length > maxBytesOf(contents))
      return { kind: "unreadable", why: UNREADABLE.tooLarge(bytes.length) };
    switch (contents.kind) {
      case "bundle": {
        const evidence = options.evidence ?? contents.evidence;
        const offline = await judgeBundle(bytes, contents, { trust: history, historyAge });
        const report = await withItsEvidence(offline.report, contents, { ...options, evidence });
        const subject = offline.bundle && subjectOf(offline.bundle);
        return { ...offline, kind: "judged", report, subject, evidence };
      }
      case "keys":
        return { kind: "keys", history: parseKeyHistory(contents.value) };
      case "evidence":
        return contents;
      case "checkpoint":
        return { kind: "stake", trust: await readStake(contents.value) };
      case "batch":
        return await judgedBatch(bytes, contents, history);
      case "empty_certificate":
        return { kind: "unreadable", why: UNREADABLE.noBundleInside };
      case "receipt":
        return { kind: "receipt", findings: judgeReceipt(contents.jws, history) };
      case "other":
        return { kind: "unreadable", why: UNREADABLE.notBundle };
    }
  } catch (error) {
    return { kind: "unreadable", why: reason(error, bytes.length) };
  }
}

async function judgedBatch(file: Uint8Array, batch: BatchInFile, history: KeyHistory | undefined): Promise<Judgement> {
  try {
    const bundles = bundlesInBatch(batch.bytes);
    return { kind: "batch", bundles, ...(await judgedText(file, batch, history)) };
  } catch (error) {
    if (!isProofError(error, "format")) throw error;
    return { kind: "unreadable", why: UNREADABLE.notWholeBatch(error.pointer ?? "", error.message) };
  }
}

/** What a certificate adds: whether its text is right, and evidence. Loads its code, and fonts, only for a certificate. */
export async function judgedText(
  file: Uint8Array,
  contents: BundleInFile | BatchInFile,
  history: KeyHistory | undefined,
) {
  if (contents.from === "json") return { certificate: undefined, evidence: undefined };
  const { judgeCertificate } = await import("./certificate/certificate.ts");
  return { certificate: judgeCertificate(file, contents, history), evidence: contents.evidence };
}

/** Loads what verifies evidence only for evidence. */
async function withItsEvidence(report: VerifyReport, { bytes }: BundleInFile, { evidence, stake = [] }: JudgeOptions) {
  if (evidence === undefined) return report;
  const { withEvidence } = await import("@attestd/proof/evidence");
  return withEvidence(report, bytes, evidence, {
    checkpoints: stake.flatMap(({ checkpoint }) => checkpoint ?? []),
    roots: stake.flatMap(({ root }) => root ?? []),
  });
}

async function readStake(value: JsonValue): Promise<Omit<StakeTrust, "name">> {
  const { readPublishedCheckpoints } = await import("@attestd/proof/evidence");
  const { readCheckpoint } = await import("@attestd/proof/state-proof");
  const isTable = typeof value === "object" && value !== null && Object.hasOwn(value, "format");
  return isTable ? { root: readPublishedCheckpoints(value, "").root } : { checkpoint: readCheckpoint(value, "") };
}

function reason(error: unknown, size: number): string {
  if (!isProofError(error, "json")) return UNREADABLE.badKeys((error as Error).message);
  if (error.fault === "encoding") return UNREADABLE.notText;
  return error.fault === "too_large" ? UNREADABLE.tooLarge(size) : UNREADABLE.notJson(error.line ?? 1);
}
