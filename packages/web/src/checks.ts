import { type CheckName, type CheckResult, type Failure, signedPart } from "@attestd/proof";
import { type Judged, ledgerName, signer, signerName } from "./verdict.ts";

/** One check, for display. */
export type CheckRow = {
  check: CheckName | "certificate" | "evidence";
  label: string;
  result: CheckResult;
  sentence: string;
  /** The values that differ, when the check failed. */
  differences: { stated: string; computed: string }[];
};

const LABELS: Readonly<Record<CheckName, string>> = {
  schema: "Form",
  keyTrust: "Signer",
  signature: "Signature",
  hashPreimage: "Fingerprint",
  transactionId: "Transaction id",
  blockHash: "Block hash",
  inclusion: "Inclusion",
  note: "Note",
  chainSource: "Source chain",
  chainAttest: "Ledger",
};

const PASSED = {
  schema: "This is an attestd bundle, version 1.",
  signature: "The signature matches the contents.",
  hashPreimage: "The transaction has the stated SHA-256 fingerprint.",
  transactionId: "The bytes give the stated id.",
  blockHash: "The header gives the stated block hash.",
  inclusion: "The path leads from transaction to block.",
  note: "The note states the same fingerprint, key and chain.",
} as const;

/** The texts that differ for a batch's transaction. */
const OF_BATCH: Partial<Record<CheckName, string>> = {
  inclusion: "The path leads from the statement to the batch's signed root.",
  note: "The note states the batch's root and size, and the same key.",
};

const FAILED = {
  schema: "Missing, extra or malformed field",
  signature: "It does not match the contents.",
  hashPreimage: "Its fingerprint differs from the stated one.",
  transactionId: "They give another id.",
  blockHash: "It gives another hash.",
  inclusion: "The path leads elsewhere.",
  note: "The note states something else",
  chainSource: "Found, but different.",
  chainAttest: "Found, but different.",
} as const;

/** Returns the checks of a report in order, and for a certificate the comparison of its text. */
export function checkRows(judged: Judged): CheckRow[] {
  const rows = (Object.entries(judged.report.checks) as [CheckName, CheckResult][]).map(([check, result]) => {
    const failures = judged.report.failures.filter((failure) => failure.check === check);
    return {
      check,
      label: LABELS[check],
      result,
      sentence: sentence(check, result, judged, failures),
      differences: check === "keyTrust" ? [] : failures.flatMap(valuesOf),
    };
  });
  return [...rows, ...evidenceRow(judged), ...certificateRow(judged)];
}

const SIGNED_BY = { ed25519: "an ed25519 key", "falcon-1024": "a post-quantum Falcon-1024 key" };

/** Summarizes the findings about the evidence in one row. */
function evidenceRow({ report }: Judged): CheckRow[] {
  const { evidence, recordedBy, sourceRecordedBy, authorisedBy } = report;
  if (evidence === undefined || Object.values(evidence).every((one) => one === "not_checked")) return [];
  const row = (result: CheckResult, sentence: string, differences: CheckRow["differences"] = []): CheckRow[] => [
    { check: "evidence", label: "Evidence", result, sentence, differences },
  ];
  const [fault] = evidence.failures;
  if (fault !== undefined) {
    const { message = "it states something else", pointer = "" } = fault;
    const place = pointer.replace(/^\//, "").replaceAll("/", ".");
    return row("fail", `It contradicts the file: ${[place, message].join(" ").trim()}.`, valuesOf(fault));
  }
  if (recordedBy === undefined) return row("not_checked", "It shows no stake on a checkpoint given here.");
  const blocks = sourceRecordedBy ? "for the blocks of the record and of what it attests" : "for the record's block";
  const stake = `The ledger's stake signed ${blocks}`;
  const sentence = authorisedBy ? `${stake}; ${SIGNED_BY[authorisedBy.alg]} signed its transaction.` : `${stake}.`;
  return row("pass", sentence);
}

function certificateRow({ certificate }: Judged): CheckRow[] {
  if (certificate === undefined) return [];
  const { words } = certificate;
  const row = { check: "certificate", label: "Certificate", result: words } as const;
  if (words === "pass") return [{ ...row, sentence: "Its text matches its bundle.", differences: [] }];
  if (words === "not_checked") return [{ ...row, sentence: `Not compared: ${certificate.why}.`, differences: [] }];
  return [{ ...row, sentence: "Its text does not match its bundle.", differences: valuesOf(certificate) }];
}

function valuesOf({ stated, computed }: { stated?: string; computed?: string }): CheckRow["differences"] {
  return stated !== undefined && computed !== undefined ? [{ stated, computed }] : [];
}

function sentence(check: CheckName, result: CheckResult, judged: Judged, failures: Failure[]): string {
  if (check === "keyTrust") return ofKey(result, judged, failures);
  if (result === "not_checked") return notChecked(check, judged);
  return result === "pass" ? passed(check, judged) : failed(check, failures);
}

function passed(check: Exclude<CheckName, "keyTrust">, { report, bundle, subject }: Judged): string {
  if (check === "chainSource") return `Found on ${subject?.chain.label}, identical.`;
  if (check === "chainAttest")
    return `Found on ${ledgerName(report)} in round ${bundle && signedPart(bundle).attest.round}, same note and sender.`;
  if (check === "hashPreimage" && subject && !subject.transaction)
    return "The block's header has the stated SHA-256 fingerprint.";
  const ofBatch = subject?.batch && OF_BATCH[check];
  return ofBatch ?? PASSED[check];
}

function failed(check: Exclude<CheckName, "keyTrust">, failures: Failure[]): string {
  const isMissing = failures.some(({ message }) => message === "not found");
  if (isMissing && (check === "chainSource" || check === "chainAttest")) return "Not found.";
  if (check !== "schema" && check !== "note") return FAILED[check];
  const place = failures[0]?.pointer?.replace(/^\//, "").replaceAll("/", ".");
  return place ? `${FAILED[check]}: ${place}.` : `${FAILED[check]}.`;
}

const FORM_FIRST = "Not checked while the form is wrong.";

function notChecked(check: CheckName, { report, comparedBy }: Judged): string {
  if ((check !== "chainSource" && check !== "chainAttest") || report.checks.schema === "fail") return FORM_FIRST;
  return comparedBy === undefined
    ? "Only the ledger check asks the chains."
    : "The service does not follow this chain.";
}

/** Names the signer only if the signature is valid. */
function ofKey(result: CheckResult, judged: Judged, failures: Failure[]): string {
  const { report, bundle, keys } = judged;
  const [entry, name] = [signer(judged), signerName(judged)];
  if (result === "not_checked") return keys ? FORM_FIRST : "There is no key list here.";
  if (entry === undefined || bundle === undefined) return "In no key history here.";
  if (report.checks.signature !== "pass") return `The file names a key of ${name}; unconfirmed.`;
  const { untilRound, revokedRound } = entry;
  const { round } = signedPart(bundle).attest;
  if (result === "pass") {
    if (revokedRound !== undefined) return `A key of ${name}, withdrawn in round ${revokedRound}, later than this.`;
    if (untilRound === undefined) return `The current key of ${name}.`;
    return `A key of ${name}, current in round ${round}, replaced in ${untilRound}.`;
  }
  const [first] = failures;
  if (revokedRound !== undefined) return `A key of ${name}, withdrawn in round ${revokedRound}.`;
  if (first?.pointer?.endsWith("/attest/round")) return `A key of ${name}, but only ${first.computed ?? ""}.`;
  return "The account is not the one of this key.";
}

/** Returns where the difference between two texts starts, and how far from the end it stops. */
export function difference(stated: string, computed: string): { start: number; fromEnd: number } {
  const shorter = Math.min(stated.length, computed.length);
  let start = 0;
  while (start < shorter && stated[start] === computed[start]) start++;
  let fromEnd = 0;
  while (fromEnd < shorter - start && stated.at(-1 - fromEnd) === computed.at(-1 - fromEnd)) fromEnd++;
  return { start, fromEnd };
}
