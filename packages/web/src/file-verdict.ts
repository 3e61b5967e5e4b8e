import { type Conclusion, conclusionOf, type VerifyReport } from "@attestd/proof";
import type { CertificateJudgement, Making } from "./certificate/making.ts";
import { WORDS_OF_CERTIFICATE } from "./words.ts";

/** The findings about a file: the report of its bundle and, for a certificate, the comparison of its words. */
export type FileFindings = { report: VerifyReport; certificate?: CertificateJudgement | undefined };

/**
 * The conclusion about a file. `altered`: a certificate whose words are not those of its bundle. `uncompared`: one whose
 * words could not be compared.
 */
export type FileConclusion = Conclusion | "altered" | "uncompared";

/** The conclusion that the page and the command both show. */
export function conclusionOfFile({ report, certificate }: FileFindings): FileConclusion {
  if (!report.verified || certificate === undefined || certificate.words === "pass") return conclusionOf(report);
  return certificate.words === "fail" ? "altered" : "uncompared";
}

/** Whether the whole file is verified: the bundle and, in a certificate, every word. */
export function isVerified({ report, certificate }: FileFindings): boolean {
  return report.verified && (certificate === undefined || certificate.words === "pass");
}

/** Whether the bundle's statements are shown as proven, even if a certificate's words could not be compared. */
export function isBelieved({ report, certificate }: FileFindings): boolean {
  return report.verified && certificate?.words !== "fail";
}

/** A certificate's statements that its bundle does not prove. */
export function makersWord({ checkedOn, ledger }: Making): string {
  return WORDS_OF_CERTIFICATE.pass(checkedOn, ledger && { ...ledger, time: recordedTime(ledger) });
}

/** When the ledger recorded it, to the second, in UTC; undefined before the ledger check. */
export function recordedTime({ recordedAt }: Pick<VerifyReport, "recordedAt">): string | undefined {
  return recordedAt && `${recordedAt.slice(0, 10)} ${recordedAt.slice(11, 19)} UTC`;
}

/** Name of the ledger for people: a sandbox's is not Algorand. */
export function ledgerName({ warnings }: Pick<VerifyReport, "warnings">): string {
  return warnings.includes("sandbox") ? "the sandbox's ledger" : "Algorand";
}
