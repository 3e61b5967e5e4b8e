import {
  isProofError,
  type KeyHistory,
  parseBundle,
  parseJson,
  parseKeyHistory,
  type VerifyReport,
  verify,
} from "@attestd/proof";
import { type Subject, subjectOf } from "@attestd/proof/description";
import { type BundleInFile, readFileContents } from "./bundle-file.ts";
import type { CertificateJudgement } from "./certificate/making.ts";
import { judgeReceipt, type ReceiptFindings } from "./receipt-file.ts";
import { UNREADABLE } from "./words.ts";

export type JudgeOptions = {
  history?: KeyHistory | undefined;
  /** Seconds since the history was fetched. */
  historyAge: number;
};

export type Judgement =
  /** For a certificate, `bytes` is the bundle in it. */
  | {
      kind: "judged";
      report: VerifyReport;
      bytes: Uint8Array;
      /** Undefined where the schema failed. */
      subject: Subject | undefined;
      certificate: CertificateJudgement | undefined;
    }
  | { kind: "receipt"; findings: ReceiptFindings }
  | { kind: "keys"; history: KeyHistory }
  | { kind: "unreadable"; why: string };

/** Reads a bundle, a certificate or a key history, and judges a bundle offline. */
export async function judge(bytes: Uint8Array, { history, historyAge }: JudgeOptions): Promise<Judgement> {
  try {
    const contents = await readFileContents(bytes);
    switch (contents.kind) {
      case "bundle": {
        const report = verify(contents.bytes, { trust: history, historyAge });
        const isBundle = report.checks.schema === "pass";
        return {
          kind: "judged",
          report,
          bytes: contents.bytes,
          subject: isBundle ? subjectOf(parseBundle(parseJson(contents.bytes))) : undefined,
          certificate: contents.from === "json" ? undefined : await judgedText(bytes, contents, history),
        };
      }
      case "keys":
        return { kind: "keys", history: parseKeyHistory(contents.value) };
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

/** Loads the code for certificates, and their fonts, only for a certificate. */
async function judgedText(file: Uint8Array, contents: BundleInFile, history: KeyHistory | undefined) {
  const { judgeCertificate } = await import("./certificate/certificate.ts");
  return judgeCertificate(file, contents, history);
}

function reason(error: unknown, size: number): string {
  if (!isProofError(error, "json")) return UNREADABLE.badKeys((error as Error).message);
  if (error.fault === "encoding") return UNREADABLE.notText;
  return error.fault === "too_large" ? UNREADABLE.tooLarge(size) : UNREADABLE.notJson(error.line ?? 1);
}
