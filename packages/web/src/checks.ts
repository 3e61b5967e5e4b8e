import type { CheckName, CheckResult, Failure } from "@attestd/proof";
import { ledgerName } from "./file-verdict.ts";
import { type Judged, signer, signerName } from "./verdict.ts";
import { CHECK_SENTENCES, CHECKS, WORDS_OF_CERTIFICATE } from "./words.ts";

/** One check, for display. */
export type CheckRow = {
  check: CheckName | "certificate";
  label: string;
  result: CheckResult;
  sentence: string;
  /** The values that differ, when the check failed. */
  differences: { stated: string; computed: string }[];
};

/** The checks of a report in its order. */
export function checkRows(judged: Judged): CheckRow[] {
  const rows = (Object.entries(judged.report.checks) as [CheckName, CheckResult][]).map(([check, result]) => {
    const failures = judged.report.failures.filter((failure) => failure.check === check);
    return {
      check,
      label: CHECKS[check].label,
      result,
      sentence: sentence(check, result, judged, failures),
      differences: check === "keyTrust" ? [] : failures.flatMap(valuesOf),
    };
  });
  return [...rows, ...certificateRow(judged)];
}

/** One more row for a certificate. */
function certificateRow({ certificate }: Judged): CheckRow[] {
  if (certificate === undefined) return [];
  const { label, passed, failed } = WORDS_OF_CERTIFICATE;
  const row = { check: "certificate", label, result: certificate.words } as const;
  switch (certificate.words) {
    case "pass":
      return [{ ...row, sentence: passed, differences: [] }];
    case "fail":
      return [{ ...row, sentence: failed, differences: valuesOf(certificate) }];
    case "not_checked":
      return [{ ...row, sentence: `Not compared: ${certificate.why}.`, differences: [] }];
  }
}

function valuesOf({ stated, computed }: { stated?: string; computed?: string }): CheckRow["differences"] {
  return stated !== undefined && computed !== undefined ? [{ stated, computed }] : [];
}

function sentence(check: CheckName, result: CheckResult, judged: Judged, failures: Failure[]): string {
  if (check === "keyTrust") return ofKey(result, judged, failures);
  if (result === "not_checked") return notChecked(check, judged);
  return result === "pass" ? passed(check, judged) : failed(check, failures);
}

function passed(check: CheckName, { report, bundle, subject }: Judged): string {
  if (check === "chainSource" && subject) return CHECK_SENTENCES.foundSource(subject.chain.label);
  if (check === "chainAttest" && bundle) return CHECK_SENTENCES.foundRecord(ledgerName(report), bundle.attest.round);
  if (check === "hashPreimage" && subject && !subject.transaction) return CHECK_SENTENCES.blockFingerprint;
  return CHECKS[check].pass;
}

function failed(check: CheckName, failures: Failure[]): string {
  const [first] = failures;
  const isMissing = failures.some(({ message }) => message === "not found");
  if (isMissing && (check === "chainSource" || check === "chainAttest")) return CHECK_SENTENCES.notFound;
  const place = first?.pointer?.replace(/^\//, "").replaceAll("/", ".");
  if (check === "schema" || check === "note")
    return place ? `${CHECKS[check].fail}: ${place}.` : `${CHECKS[check].fail}.`;
  return CHECKS[check].fail;
}

function notChecked(check: CheckName, { report, comparedBy }: Judged): string {
  if (check !== "chainSource" && check !== "chainAttest") return CHECK_SENTENCES.formFirst;
  if (report.checks.schema === "fail") return CHECK_SENTENCES.formFirst;
  return comparedBy === undefined ? CHECK_SENTENCES.ledgerNotAsked : CHECK_SENTENCES.otherChain;
}

/** The signer is named as such only if the signature is valid. */
function ofKey(result: CheckResult, judged: Judged, failures: Failure[]): string {
  const { report, bundle, keys } = judged;
  const [entry, name] = [signer(judged), signerName(judged)];
  if (result === "not_checked") return keys ? CHECK_SENTENCES.formFirst : CHECK_SENTENCES.noKeys;
  if (entry === undefined || bundle === undefined) return CHECKS.keyTrust.fail;
  if (report.checks.signature !== "pass") return CHECK_SENTENCES.unconfirmed(name);
  const { untilRound, revokedRound } = entry;
  if (result === "pass") {
    if (revokedRound !== undefined) return CHECK_SENTENCES.revokedAfter(name, revokedRound);
    if (untilRound !== undefined) return CHECK_SENTENCES.retired(name, bundle.attest.round, untilRound);
    return CHECK_SENTENCES.current(name);
  }
  const [first] = failures;
  if (revokedRound !== undefined) return CHECK_SENTENCES.revoked(name, `round ${revokedRound}`);
  if (first?.pointer === "/attest/round") return CHECK_SENTENCES.outsideSpan(name, first.computed ?? "");
  return CHECK_SENTENCES.otherAccount;
}

/** Where the difference between two texts starts, and how far from the end it stops. */
export function difference(stated: string, computed: string): { start: number; fromEnd: number } {
  const shorter = Math.min(stated.length, computed.length);
  let start = 0;
  while (start < shorter && stated[start] === computed[start]) start++;
  let fromEnd = 0;
  while (fromEnd < shorter - start && stated.at(-1 - fromEnd) === computed.at(-1 - fromEnd)) fromEnd++;
  return { start, fromEnd };
}
