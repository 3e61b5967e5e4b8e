import { type Conclusion, conclusionOf, type VerifyReport } from "@attestd/proof";
import type { CertificateJudgement, Making } from "./certificate/making.ts";
import { WORDS_OF_CERTIFICATE } from "./words.ts";

/** What was found of a file: the report of the bundle in it, and of a certificate whether its words are the bundle's. */
export type FileFindings = { report: VerifyReport; certificate?: CertificateJudgement | undefined };

/**
 * What a file comes down to. `altered`: a certificate whose words are not those of the bundle in it. `uncompared`: one
 * whose words could not be compared.
 */
export type FileConclusion = Conclusion | "altered" | "uncompared";

/** One word for a file, whoever shows it to people. */
export function conclusionOfFile({ report, certificate }: FileFindings): FileConclusion {
  if (!report.verified || certificate === undefined || certificate.words === "pass") return conclusionOf(report);
  return certificate.words === "fail" ? "altered" : "uncompared";
}

/** Whether the whole file is verified: the bundle, and where it is a certificate, every word of that. */
export function isVerified({ report, certificate }: FileFindings): boolean {
  return report.verified && (certificate === undefined || certificate.words === "pass");
}

/** Whether what the bundle says is shown as proven. That a certificate's words could not be compared says nothing of it. */
export function isBelieved({ report, certificate }: FileFindings): boolean {
  return report.verified && certificate?.words !== "fail";
}

/** What a certificate says on its maker's word alone: nothing of it is proven by the bundle. */
export function makersWord({ checkedOn, ledger }: Making): string {
  return WORDS_OF_CERTIFICATE.pass(checkedOn, ledger && { ...ledger, time: recordedTime(ledger) });
}

/** When the ledger recorded it, to the second and in UTC; undefined before the ledger check. */
export function recordedTime({ recordedAt }: Pick<VerifyReport, "recordedAt">): string | undefined {
  return recordedAt && `${recordedAt.slice(0, 10)} ${recordedAt.slice(11, 19)} UTC`;
}
