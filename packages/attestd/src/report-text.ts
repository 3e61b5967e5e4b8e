import {
  type Bundle,
  type CheckName,
  conclusionOf,
  type Failure,
  isOfLedger,
  mayAskChain,
  ONLINE_CHECKS,
  signedPart,
  type Trust,
  type VerifyReport,
} from "@attestd/proof";
import { circumstancesOf, headline, sentenceOf, subjectOf } from "@attestd/proof/description";
import { hostOf } from "@attestd/web/printable";
import { basisSentence, dateOf, historyOf } from "@attestd/web/trust-basis";
import {
  certificateSentence,
  conclusionOfFile,
  elsewhere,
  type FileFindings,
  ledgerName,
  recordedTime,
} from "@attestd/web/verdict";
import { STATES, WARNINGS } from "@attestd/web/words";
import type { Result } from "./checked-file.ts";
import type { CheckpointTrust } from "./checkpoint-files.ts";
import { evidenceFaults, evidenceLines } from "./evidence-text.ts";
import type { TrustedKeys } from "./keys-file.ts";
import type { Mark, Terminal } from "./terminal.ts";

/** By the tone of the page. */
const MARKS = { passed: "ok", caution: "unknown", failed: "fail" } as const;

/** What a failed check found, if it has no values to show. */
const FAILED: Record<CheckName, string> = {
  schema: "missing, extra or malformed",
  keyTrust: "in no key history here",
  signature: "does not match the contents",
  hashPreimage: "the fingerprint differs from the stated one",
  transactionId: "the bytes give another id",
  blockHash: "the header gives another hash",
  inclusion: "the path leads elsewhere",
  note: "the note states something else",
  chainSource: "not found, or different",
  chainAttest: "not found, or different",
};

/** Checks of several members: their JSON pointer is shown too. */
const WITH_POINTER: readonly CheckName[] = ["schema", "note", "chainAttest"];

/** The conclusion about a bundle or a receipt, worded as on the page. */
export function verdict(result: Exclude<Result, { kind: "other" }>): { mark: Mark; heading: string } {
  if (result.kind === "unreadable") return { mark: "fail", heading: "Can't read" };
  const state = result.kind === "checked" ? conclusionOfFile(result) : result.findings.conclusion;
  const { heading, tone } = STATES[state];
  return { mark: state === "warning" ? "warning" : MARKS[tone], heading };
}

/**
 * The lines below a verdict: what was attested, by whom, and what was checked. For a rejected bundle: what failed, and
 * none of its claims. @param out shortens ids
 */
export function evidence(
  checked: FileFindings & { bundle: Bundle | undefined; restsOn?: Pick<CheckpointTrust, "basis" | "name"> },
  trusted: TrustedKeys | undefined,
  out: Terminal,
): string[] {
  const { report, bundle } = checked;
  const trust = trusted?.trust;
  const state = conclusionOfFile(checked);
  if (state === "altered" || state === "uncompared") return [...certificateLines(checked, out), basisLine(trusted)];
  if (!report.verified || !bundle) return [...refusal(report, trust, out), basisLine(trusted)];
  const isRecorded = report.checks.chainAttest === "pass" || report.recordedBy !== undefined;
  const time = recordedTime(report);
  const { kid = "", status } = report.attestor;
  const origin = historyOf(trust)?.keys.find((key) => key.kid === kid)?.origin;
  const by = origin ? `${hostOf(origin)}, key ${out.short(kid)} (${status})` : `key ${out.short(kid)} (pinned)`;
  return [
    ...subjectLines(bundle, report, out),
    `${isRecorded ? "recorded" : "stated as recorded"} on ${ledgerName(report)} in round ${signedPart(bundle).attest.round}${time ? `, ${time}` : ""}`,
    ...evidenceLines(report, checked.restsOn, out),
    `signed by ${by}`,
    basisLine(trusted),
    checksLine(report),
    ...certificateLines(checked, out),
    // The first line says that it failed.
    ...warnings({ ...report, warnings: report.warnings.filter((one) => one !== "transaction_failed") }, trusted),
  ];
}

/** What was attested, in words; a failure leads. */
function subjectLines(bundle: Bundle, report: VerifyReport, out: Terminal): string[] {
  const subject = subjectOf(bundle);
  const circumstances = circumstancesOf(subject, report);
  const isFailed = circumstances.outcome === "failed";
  return [
    ...(isFailed ? [headline(subject, "failed").title] : []),
    sentenceOf(subject, circumstances, { id: out.short }),
  ];
}

function certificateLines({ certificate }: FileFindings, out: Terminal): string[] {
  if (certificate === undefined) return [];
  const { stated, computed } = certificate.words === "fail" ? certificate : {};
  const values =
    stated && computed ? [`certificate  stated ${out.head(stated)}, of its bundle ${out.head(computed)}`] : [];
  return [...values, certificateSentence(certificate)];
}

/** Where the trusted keys come from, as a phrase. */
export function basisLine(trusted: TrustedKeys | undefined): string {
  const [first = "", ...rest] = basisSentence(trusted?.basis).replace(/\.$/, "");
  return first.toLowerCase() + rest.join("");
}

/** The warnings about a verified bundle. */
export function warnings({ warnings: found }: VerifyReport, trusted: TrustedKeys | undefined): string[] {
  const date = trusted ? dateOf(trusted.basis) : "";
  return found.map((warning) => WARNINGS[warning](date));
}

function refusal(report: VerifyReport, trust: Trust | undefined, out: Terminal): string[] {
  if (conclusionOf(report) === "unknown") {
    const why = trust ? "its key is in no history here" : "no keys to trust were given (--keys FILE)";
    return [`Unchanged, but ${why}. Anyone could have made it.`];
  }
  if (conclusionOf(report) === "elsewhere") return [elsewhere(report), otherKeys(report, trust)];
  const width = Math.max(0, ...report.failures.map(({ check }) => check.length)) + 1;
  const revoked = historyOf(trust)?.keys.find(({ kid }) => kid === report.attestor.kid)?.revokedRound;
  const why = (failure: Failure) =>
    revoked !== undefined && failure.pointer === "/attestor/pqPublicKey"
      ? `key withdrawn in round ${revoked}; its signature alone can't be believed${mayAskChain(report) ? " (--chain)" : ""}`
      : reason(failure, out);
  const failures = report.failures.map((failure) => `${failure.check.padEnd(width)} ${why(failure)}`);
  return [...failures, ...evidenceFaults(report)];
}

/** What to give for a file of another ledger. Without a list of keys, `--ledger` says which ledger they are of. */
function otherKeys({ failures }: VerifyReport, trust: Trust | undefined): string {
  const ledger = failures.find(isOfLedger)?.stated;
  return trust && "kids" in trust
    ? `If the keys of --kid are of its ledger: --ledger ${ledger}`
    : "Check it with the keys of its own attestor: --keys FILE.";
}

function reason({ check, stated, computed, pointer, message }: Failure, out: Terminal): string {
  const where = pointer && WITH_POINTER.includes(check) ? `${pointer} ` : "";
  if (stated === undefined || computed === undefined) return `${where}${message ?? FAILED[check]}`;
  const source = check === "keyTrust" ? "the key history says" : "computed";
  // Values with the same beginning are shown in full.
  const show = out.head(stated) === out.head(computed) ? (value: string) => value : out.head;
  return `${where}stated ${show(stated)}, ${source} ${show(computed)}`;
}

function checksLine({ checks }: VerifyReport): string {
  const passed = Object.values(checks).filter((result) => result === "pass").length;
  const unchecked = ONLINE_CHECKS.filter((check) => checks[check] === "not_checked");
  if (unchecked.length === 0) return `${passed} checks passed; compared with the source chain and the ledger`;
  if (unchecked.length === ONLINE_CHECKS.length) return `${passed} checks passed; ledger not checked (--chain)`;
  return `${passed} checks passed; not checked: ${unchecked.join(", ")}`;
}
