import { JsonError, type KeyHistory, parseKeyHistory, type VerifyReport, verify } from "@attestd/proof";
import { type BundleInFile, readFileContents } from "./bundle-file.ts";
import { judgeCertificate } from "./certificate/certificate.ts";
import type { CertificateJudgement } from "./certificate/making.ts";
import { UNREADABLE } from "./words.ts";

/** By which keys a file is to be judged. */
export type Premises = {
  history?: KeyHistory;
  /** Seconds since the history was fetched. */
  historyAge: number;
};

/** What came of reading a file. */
export type Judgement =
  /** `certificate` is there where the file is one: `bytes` are of the bundle in it. */
  | { kind: "judged"; report: VerifyReport; bytes: Uint8Array; certificate?: CertificateJudgement }
  | { kind: "keys"; history: KeyHistory; text: string }
  | { kind: "unreadable"; why: string };

/**
 * Reads a file, whatever it is, and judges the bundle in it. Asks no one.
 * @param bytes of a bundle, a certificate or a key history
 */
export async function judge(bytes: Uint8Array, { history, historyAge }: Premises): Promise<Judgement> {
  try {
    const contents = await readFileContents(bytes);
    switch (contents.kind) {
      case "bundle":
        return {
          kind: "judged",
          report: verify(contents.bytes, { trust: history, historyAge }),
          bytes: contents.bytes,
          ...certificateIn(bytes, contents, history),
        };
      case "keys":
        return { kind: "keys", history: parseKeyHistory(contents.value), text: new TextDecoder().decode(bytes) };
      case "empty_certificate":
        return { kind: "unreadable", why: UNREADABLE.noBundleInside };
      case "other":
        return { kind: "unreadable", why: UNREADABLE.notBundle };
    }
  } catch (error) {
    return { kind: "unreadable", why: reason(error, bytes.length) };
  }
}

/** Whether the words of a certificate are its bundle's; nothing, where the file is a bundle alone. */
export function certificateIn(
  file: Uint8Array,
  { bytes, from, making }: BundleInFile,
  history: KeyHistory | undefined,
): { certificate?: CertificateJudgement } {
  return from === "json" ? {} : { certificate: judgeCertificate({ format: from, file, making }, bytes, history) };
}

function reason(error: unknown, size: number): string {
  if (!(error instanceof JsonError)) return UNREADABLE.badKeys((error as Error).message);
  if (error.code === "encoding") return UNREADABLE.notText;
  return error.code === "too_large" ? UNREADABLE.tooLarge(size) : UNREADABLE.notJson(error.line);
}
