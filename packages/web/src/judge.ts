import {
  isProofError,
  type KeyHistory,
  nobleCrypto,
  parseBundle,
  parseKeyHistory,
  rememberingLast,
  type Trust,
  type VerifyReport,
  verify,
} from "@attestd/proof";
import { subjectOf } from "@attestd/proof/description";
import type { JsonValue } from "@attestd/proof/json";
import { type BundleInBatch, bundlesInBatch } from "./batch-file.ts";
import { type BatchInFile, type BundleInFile, type FileContents, maxBytesOf, readFileContents } from "./bundle-file.ts";
import { judgeReceipt, memberOf, type ReceiptFindings } from "./receipt-file.ts";
import type { StakeTrust } from "./stake.ts";
import { historyOf } from "./trust-basis.ts";
import type { Judged } from "./verdict.ts";
import { UNREADABLE } from "./words.ts";

export type JudgeOptions = {
  history?: KeyHistory | undefined;
  /** Seconds since the history was fetched. */
  historyAge: number;
  /** The evidence for the bundle. */
  evidence?: Uint8Array | undefined;
  /** What is trusted about the ledger's stake. */
  stake?: readonly StakeTrust[];
};

export type Judgement =
  /** For a certificate, `bytes` is the bundle inside it. */
  | ({ kind: "judged"; bytes: Uint8Array } & Omit<Judged, "keys" | "stake" | "comparedBy">)
  /**
   * A whole batch, whose bundles are not judged yet. `certificate`: whether a certificate's text is theirs. `evidence`:
   * the evidence in a certificate.
   */
  | ({ kind: "batch"; bundles: BundleInBatch[] } & Pick<Judged, "certificate" | "evidence">)
  | { kind: "receipt"; findings: ReceiptFindings }
  | { kind: "keys"; history: KeyHistory }
  | Extract<FileContents, { kind: "evidence" }>
  | { kind: "stake"; trust: Omit<StakeTrust, "name"> }
  | { kind: "unreadable"; why: string };

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
        const judged = await judgeBundle(bytes, contents, { trust: history, historyAge });
        const report = await withItsEvidence(judged.report, contents, { ...options, evidence });
        return { kind: "judged", ...judged, report, subject: judged.bundle && subjectOf(judged.bundle), evidence };
      }
      case "keys":
        return { kind: "keys", history: parseKeyHistory(contents.value) };
      case "evidence":
        return contents;
      case "checkpoint":
        return { kind: "stake", trust: await readStake(contents.value) };
      case "batch":
        return await judgedBatch(bytes, contents, history);
      case "broken":
        return { kind: "unreadable", why: contents.why };
      case "receipt":
        return { kind: "receipt", findings: judgeReceipt(contents.jws, history) };
      case "other":
        return { kind: "unreadable", why: UNREADABLE.notBundle };
    }
  } catch (error) {
    return { kind: "unreadable", why: reason(error, bytes.length) };
  }
}

/** Remembers the last result, because the items of a batch are judged one after the other. */
const crypto = rememberingLast(nobleCrypto);

export type JudgedBundle = Awaited<ReturnType<typeof judgeBundle>>;

/** Judges a bundle offline, and a certificate's text. @param file that contains it */
export async function judgeBundle(
  file: Uint8Array,
  contents: BundleInFile,
  { trust, historyAge = 0 }: { trust?: Trust | undefined; historyAge?: number },
) {
  const { bytes, evidence } = contents;
  const report = verify(bytes, { trust, historyAge, crypto });
  const bundle = report.checks.schema === "pass" ? parseBundle(bytes) : undefined;
  return {
    report,
    /** Undefined if its form is wrong. */
    bundle,
    /** UTF-8 of the bundle: the file, or a certificate's contents. */
    bytes,
    /** The evidence in a certificate: JSON in UTF-8. */
    evidence,
    certificate: await judgeText(file, contents, trust),
  };
}

async function judgedBatch(file: Uint8Array, batch: BatchInFile, history: KeyHistory | undefined): Promise<Judgement> {
  try {
    const bundles = bundlesInBatch(batch.bytes);
    return { kind: "batch", bundles, certificate: await judgeText(file, batch, history), evidence: batch.evidence };
  } catch (error) {
    if (!isProofError(error, "format")) throw error;
    return { kind: "unreadable", why: UNREADABLE.notWholeBatch(error.pointer ?? "", error.message) };
  }
}

/** Judges a certificate's text. The code and fonts for certificates are loaded only for a certificate. */
export async function judgeText(file: Uint8Array, contents: BundleInFile | BatchInFile, trust: Trust | undefined) {
  if (contents.from === "json") return undefined;
  const { judgeCertificate } = await import("./certificate/certificate.ts");
  return judgeCertificate(file, contents, historyOf(trust));
}

/** Judges evidence. The code for it is loaded only if there is evidence. */
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
  const isTable = memberOf(value, "format") !== undefined;
  return isTable ? { root: readPublishedCheckpoints(value, "").root } : { checkpoint: readCheckpoint(value, "") };
}

function reason(error: unknown, size: number): string {
  if (!isProofError(error, "json")) return UNREADABLE.badKeys((error as Error).message);
  if (error.fault === "encoding") return UNREADABLE.notText(error.message);
  return error.fault === "too_large" ? UNREADABLE.tooLarge(size) : UNREADABLE.notJson(error.line ?? 1);
}
