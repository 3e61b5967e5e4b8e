import {
  type Bundle,
  type CheckName,
  conclusionOf,
  type EvidenceReport,
  type Failure,
  isOfLedger,
  mayAskChain,
  ONLINE_CHECKS,
  signedPart,
  type Trust,
  type VerifyReport,
} from "@attestd/proof";
import { circumstancesOf, headline, sentenceOf, subjectOf } from "@attestd/proof/description";
import { groupedUnits } from "@attestd/proof/text";
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
import type { Mark, Terminal } from "../terminal/terminal.ts";
import type { Result } from "./check-file.ts";
import type { CheckpointTrust } from "./checkpoints.ts";
import type { TrustedKeys } from "./keys.ts";

/** The mark for each tone that the page uses for a verdict. */
const MARKS = { passed: "ok", caution: "unknown", failed: "fail" } as const;

/** What a failed check found, when there are no values to show. */
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

/** Checks that concern several members: the JSON pointer of the failed one is shown too. */
const WITH_POINTER: readonly CheckName[] = ["schema", "note", "chainAttest"];

/** The conclusion about a bundle or a receipt, worded as on the page. */
export function verdict(result: Exclude<Result, { kind: "other" }>): { mark: Mark; heading: string } {
  if (result.kind === "unreadable") return { mark: "fail", heading: "Can't read" };
  const state = result.kind === "checked" ? conclusionOfFile(result) : result.findings.conclusion;
  const { heading, tone } = STATES[state];
  return { mark: state === "warning" ? "warning" : MARKS[tone], heading };
}

/**
 * The lines below the verdict about a bundle: what was attested, by whom, and what was checked. For a rejected bundle: what
 * failed, and none of its claims. @param out shortens ids
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

/** What was attested, in words; if the transaction failed, that comes first. */
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
    stated && computed
      ? [`certificate  stated ${out.head(stated)}, computed from its bundle ${out.head(computed)}`]
      : [];
  return [...values, certificateSentence(certificate)];
}

/** Where the trusted keys come from, in a phrase. */
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

/** What to give to check a file of another ledger. For single keys, `--ledger` says which ledger they belong to. */
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

type RestsOn = Pick<CheckpointTrust, "basis" | "name">;

const SIGNED_BY = { ed25519: "the ed25519 key", "falcon-1024": "the post-quantum Falcon-1024 key" };

/** What the evidence of a verified bundle shows, and what it rests on; no lines without evidence. */
export function evidenceLines(report: VerifyReport, restsOn: RestsOn | undefined, out: Terminal): string[] {
  const { evidence, authorisedBy } = report;
  if (evidence === undefined) return [];
  const signed =
    authorisedBy &&
    `its transaction was signed by ${SIGNED_BY[authorisedBy.alg]} of ${out.short(authorisedBy.address)}`;
  return [...stakeLines(report, evidence, restsOn, out), ...(signed ? [signed] : []), ...sourceLines(report)];
}

/** For a source on Algorand: the round in which stake signed for the block of the source itself. */
function sourceLines({ recordedBy, sourceRecordedBy: source }: VerifyReport): string[] {
  if (source === undefined) return [];
  const { round, time, checkpoint } = source;
  const rests =
    checkpoint.round === recordedBy?.checkpoint.round ? "" : `; rests on the checkpoint of round ${checkpoint.round}`;
  return [
    `stake also signed for the block of the source: round ${round}, ${recordedTime({ recordedBy: { time } })}${rests}`,
  ];
}

function stakeLines(
  { recordedBy }: VerifyReport,
  evidence: EvidenceReport,
  restsOn: RestsOn | undefined,
  out: Terminal,
): string[] {
  if (recordedBy !== undefined) {
    const { provenWeight, checkpoint } = recordedBy;
    const stake = `${groupedUnits(BigInt(provenWeight), 6)} ALGO`;
    const basis = restsOn === undefined ? "" : `, ${basisOf(restsOn, out)}`;
    return [
      `stake of more than ${stake} signed for the round; rests on the checkpoint of round ${checkpoint.round}${basis}`,
    ];
  }
  if (evidence.inclusion !== "pass") return ["the evidence does not show where it is recorded"];
  return ["the evidence shows the block, but no stake that signed for it: no state proof on a trusted --checkpoint"];
}

function basisOf({ basis, name }: RestsOn, out: Terminal): string {
  const says = {
    checkpoint: `in ${name}`,
    table: `in your own table ${name}`,
    published: `by the root that a service publishes, in ${name}`,
    root: `by the root ${out.short(name)} that you named`,
    release: `${name}, which comes with attestd`,
  };
  return says[basis];
}

/** How the evidence contradicts a bundle: its faults, with JSON pointers into the evidence. */
export function evidenceFaults({ evidence }: VerifyReport): string[] {
  const faults = evidence?.failures ?? [];
  return faults.map(({ pointer = "", message, stated, computed }) => {
    return `evidence  ${pointer} ${message ?? `stated ${stated}, computed ${computed}`}`;
  });
}
