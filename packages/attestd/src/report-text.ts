import {
  type Bundle,
  type CheckName,
  chainOf,
  conclusionOf,
  type Failure,
  mayAskChain,
  type VerifyReport,
} from "@attestd/proof";
import {
  conclusionOfFile,
  type FileConclusion,
  type FileFindings,
  ledgerName,
  makersWord,
  recordedTime,
} from "@attestd/web/file-verdict";
import { hostOf } from "@attestd/web/printable";
import { basisSentence, dateOf, historyOf, type StatedBasis, statedBasis } from "@attestd/web/trust-basis";
import { OUTCOMES, STATES, WARNINGS, WORDS_OF_CERTIFICATE } from "@attestd/web/words";
import type { Believed } from "./keys-file.ts";
import type { Mark, Terminal } from "./terminal.ts";

/** A report's conclusion in the command, worded as on the page. */
export type Verdict = { mark: Mark; heading: string };

const ONLINE: readonly CheckName[] = ["chainSource", "chainAttest"];

const MARKS: Record<FileConclusion, Mark> = {
  verified: "ok",
  warning: "warning",
  unknown: "unknown",
  revoked: "fail",
  failed: "fail",
  altered: "fail",
  uncompared: "unknown",
};

/** The text of a failed check that has no values to show. */
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

/** Checks of several members, for which the pointer is shown too. */
const WITH_POINTER: readonly CheckName[] = ["schema", "note", "chainAttest"];

export function verdict(judged: Reported): Verdict {
  const state = conclusionOfFile(judged);
  return { mark: MARKS[state], heading: STATES[state].heading };
}

/** The input of a verdict. */
export type Reported = FileFindings & { bundle: Bundle | undefined };

/**
 * The lines below a verdict: what was attested, by whom, and what was checked. For a rejected bundle: what failed, and
 * none of its claims.
 */
export function evidence(judged: Reported, believed: Believed | undefined, out: Terminal): string[] {
  const { report, bundle } = judged;
  const trust = believed?.trust;
  const state = conclusionOfFile(judged);
  if (state === "altered" || state === "uncompared") return [...certificateLines(judged, out), basisLine(believed)];
  if (!report.verified || !bundle) return [...refusal(report, trust, out), basisLine(believed)];
  const recorded = report.checks.chainAttest === "pass" ? "recorded" : "stated as recorded";
  const time = recordedTime(report);
  const { kid = "", status } = report.attestor;
  const origin = historyOf(trust)?.keys.find((key) => key.kid === kid)?.origin;
  const by = origin ? `${hostOf(origin)}, key ${out.short(kid)} (${status})` : `key ${out.short(kid)} (pinned)`;
  return [
    `${subject(bundle, out)}, ${recorded} on ${ledgerName(report)} in round ${bundle.attest.round}${time ? `, ${time}` : ""}`,
    ...(report.receipt ? [`outcome: ${OUTCOMES[report.receipt.status]}`] : []),
    `signed by ${by}`,
    basisLine(believed),
    `${count(report)}; ${ledger(report)}`,
    ...certificateLines(judged, out),
    ...warnings(report, believed),
  ];
}

/** Lines about a certificate's own text. */
function certificateLines({ certificate }: Reported, out: Terminal): string[] {
  if (certificate === undefined) return [];
  if (certificate.words === "pass") return [makersWord(certificate.making)];
  if (certificate.words === "not_checked") return [WORDS_OF_CERTIFICATE.notCompared(certificate.why)];
  const { stated, computed } = certificate;
  const values =
    stated && computed ? [`certificate  stated ${out.head(stated)}, of its bundle ${out.head(computed)}`] : [];
  return [...values, WORDS_OF_CERTIFICATE.fail];
}

/** The keys that a verdict rests on, as a phrase. */
export function basisLine(believed: Believed | undefined): string {
  const [first = "", ...rest] = basisSentence(believed?.basis).replace(/\.$/, "");
  return first.toLowerCase() + rest.join("");
}

/** The keys that a verdict rests on, for programs. */
export function stated(believed: Believed | undefined): StatedBasis | null {
  return believed ? statedBasis(believed.basis) : null;
}

/** The warnings about a verified bundle. */
export function warnings({ warnings: found }: VerifyReport, believed: Believed | undefined): string[] {
  const date = believed ? dateOf(believed.basis) : "";
  return found.map((warning) => WARNINGS[warning](date));
}

/** What was attested. */
function subject(bundle: Bundle, out: Terminal): string {
  const chain = chainOf(bundle).label;
  const block = "block" in bundle ? `block ${bundle.block.height}` : undefined;
  if (!("source" in bundle)) return `${chain} ${block}, ${out.short(bundle.block.blockHash)}`;
  return `${chain} ${out.short(bundle.source.txnId)}${block ? ` in ${block}` : ""}`;
}

function refusal(report: VerifyReport, trust: Believed["trust"] | undefined, out: Terminal): string[] {
  if (conclusionOf(report) === "unknown") {
    const why = trust ? "its key is in no history here" : "no keys to believe were given (--keys FILE)";
    return [`Unchanged, but ${why}. Anyone could have made it.`];
  }
  const width = Math.max(...report.failures.map(({ check }) => check.length)) + 1;
  const revoked = historyOf(trust)?.keys.find(({ kid }) => kid === report.attestor.kid)?.revokedRound;
  const why = (failure: Failure) =>
    revoked !== undefined && failure.pointer === "/attestor/pqPublicKey"
      ? `key withdrawn in round ${revoked}; its signature alone can't be believed${mayAskChain(report) ? " (--chain)" : ""}`
      : reason(failure, out);
  return report.failures.map((failure) => `${failure.check.padEnd(width)} ${why(failure)}`);
}

function reason({ check, stated, computed, pointer, message }: Failure, out: Terminal): string {
  const where = pointer && WITH_POINTER.includes(check) ? `${pointer} ` : "";
  if (stated === undefined || computed === undefined) return `${where}${message ?? FAILED[check]}`;
  const source = check === "keyTrust" ? "the key history says" : "computed";
  // Values with the same beginning are shown in full.
  const show = out.head(stated) === out.head(computed) ? (value: string) => value : out.head;
  return `${where}stated ${show(stated)}, ${source} ${show(computed)}`;
}

function count({ checks }: VerifyReport): string {
  const passed = Object.values(checks).filter((result) => result === "pass").length;
  return `${passed} checks passed`;
}

function ledger({ checks }: VerifyReport): string {
  const unchecked = ONLINE.filter((check) => checks[check] === "not_checked");
  if (unchecked.length === 0) return "compared with the source chain and the ledger";
  return unchecked.length === ONLINE.length ? "ledger not checked (--chain)" : `not checked: ${unchecked.join(", ")}`;
}
