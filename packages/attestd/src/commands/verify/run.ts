import { signedPart } from "@attestd/proof";
import { circumstancesOf, subjectLine, subjectOf } from "@attestd/proof/description";
import { railLabel } from "@attestd/proof/rails";
import { utcTime } from "@attestd/proof/text";
import { isProven, isVerified } from "@attestd/web/verdict";
import { EXIT, type ExitCode, Failure } from "../../failure.ts";
import type { TrustOptions } from "../../options.ts";
import type { Environment } from "../../terminal/environment.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import type { Checked, CheckedReceipt, Result } from "../../trust/check-file.ts";
import { exitCodeOf, openChecking } from "../../trust/check-files.ts";
import type { EvidenceFiles, EvidenceTrouble } from "../../trust/evidence-file.ts";
import { type TrustedKeys, trustForPrograms } from "../../trust/keys.ts";
import { basisLine, evidence as linesOfReport, verdict } from "../../trust/report-text.ts";
import { receiptEvidence, receiptTrouble, remarksOn, summary } from "../../trust/summary.ts";

/** A result to be printed. */
type Shown = Exclude<Result, { kind: "other" }>;

/** Columns of the longest verdict, and of a time. */
const VERDICT = "Verified, with a warning".length;
const TIME = "2026-11-21 14:03:07 UTC".length;
/** A longer name pushes its row's other columns to the right. */
const MAX_NAME = 48;

/**
 * Checks bundles, one after another, and prints the result of each.
 *
 * @param names files, folders, URLs; `-` is standard input
 * @returns for several files: not verified before unreadable before unreachable
 */
export async function verifyFiles(
  names: string[],
  options: TrustOptions & EvidenceFiles & { json?: boolean },
  environment: Environment,
): Promise<ExitCode> {
  const { sources, trusted, results } = await openChecking(names, options, environment);
  const { out } = environment;
  const isMany = sources.length !== 1 || sources.some(({ isFound }) => isFound);
  const evidenceIsAsked = [options.evidence, options.checkpoint, options.stateProofs].some((one) => one !== undefined);
  if (options.evidence !== undefined && isMany)
    throw new Failure(EXIT.usage, "--evidence is of one bundle", [
      "Without it, evidence beside each bundle is checked: b.evidence.json of b.json.",
    ]);
  const check = evidenceIsAsked ? await evidenceCheckOf(options, isMany) : undefined;
  const tableOf = (files: readonly string[]) => (options.json ? undefined : openTable(files, trusted, out));
  let table = isMany ? tableOf(sources.map(({ name }) => name)) : undefined;
  const checked: Result[] = [];
  for await (const group of results) {
    // The items of one batch are many, too.
    if (group.length > 1) table ??= tableOf(group.map(({ file }) => file));
    for (const found of group) {
      const result = found.kind === "checked" ? await withEvidence(found) : found;
      checked.push(result);
      if (result.kind === "other") continue;
      if (options.json) printJson(result, trusted, environment);
      else if (table) table.row(result);
      else printInFull(result, trusted, out);
    }
  }
  table?.end(checked);
  return exitCodeOf(checked);

  /** Checks the evidence, if it is asked for, and that in a certificate always. */
  async function withEvidence(found: Checked): Promise<Result> {
    const checkIt = check ?? (found.evidence ? await evidenceCheckOf({}, isMany) : undefined);
    const result = checkIt ? await checkIt(found) : found;
    return "trouble" in result ? withoutEvidence(found.file, result) : result;
  }

  /** Unreadable evidence ends the command for one bundle. Among many, only its bundle counts as unreadable. */
  function withoutEvidence(file: string, { trouble, why }: EvidenceTrouble): Result {
    if (!isMany) throw new Failure(EXIT.unreadable, trouble, [why]);
    return { kind: "unreadable", file, why: `${trouble}. ${why}`, exitCode: EXIT.unreadable };
  }
}

/** Loads the code for evidence only when there is evidence to check. */
async function evidenceCheckOf(files: EvidenceFiles, isMany: boolean) {
  return (await import("../../trust/evidence-file.ts")).evidenceCheck(files, isMany);
}

function printJson(result: Shown, trusted: TrustedKeys | undefined, { out, err }: Environment): void {
  const { file } = result;
  if (result.kind === "unreadable") err.line(`attestd: can't read ${file}: ${result.why}`);
  if (result.kind === "checked" && result.ledgerTrouble !== undefined)
    err.line(`attestd: couldn't ask the ledger about ${file}: ${result.ledgerTrouble}`);
  out.json({ file, ...forPrograms(result, trusted) });
}

function forPrograms(result: Shown, trusted: TrustedKeys | undefined): object {
  const trust = trustForPrograms(trusted);
  if (result.kind === "unreadable") return { verified: false, unreadable: result.why };
  if (result.kind === "receipt") return { ...receiptForPrograms(result), trust };
  const { report, certificate, payment, restsOn } = result;
  const paymentReceipt = payment && { file: payment.file, ...receiptForPrograms(payment) };
  return {
    ...report,
    verified: isVerified(result),
    ...(restsOn && { restsOn }),
    ...(certificate && { certificate }),
    ...(paymentReceipt && { paymentReceipt }),
    trust,
  };
}

function receiptForPrograms({ findings: { conclusion, ...findings } }: CheckedReceipt) {
  return { type: "payment-receipt", verified: conclusion === "verified", conclusion, ...findings };
}

function printInFull(result: Shown, trusted: TrustedKeys | undefined, out: Terminal): void {
  const { mark, heading } = verdict(result);
  out.marked(mark, `${heading}  ${result.file}`);
  for (const line of linesOf(result, trusted, out)) out.line(`  ${line}`);
  if (result.kind !== "checked") return;
  const { ledgerTrouble, payment } = result;
  if (ledgerTrouble !== undefined) out.line(`  couldn't ask the ledger; the offline result stands: ${ledgerTrouble}`);
  if (payment === undefined) return;
  const onReceipt = verdict(payment);
  out.marked(onReceipt.mark, `${onReceipt.heading}  ${payment.file}`);
  for (const line of receiptEvidence(payment.findings, trusted, out)) out.line(`  ${line}`);
}

function linesOf(result: Shown, trusted: TrustedKeys | undefined, out: Terminal): string[] {
  if (result.kind === "unreadable") return [result.why];
  if (result.kind === "checked") return linesOfReport(result, trusted, out);
  return [...receiptEvidence(result.findings, trusted, out), basisLine(trusted)];
}

/** Starts a table of files that are checked one after the other. @param names they set the width of a column */
function openTable(names: readonly string[], trusted: TrustedKeys | undefined, out: Terminal) {
  const width = Math.min(MAX_NAME, Math.max(...names.map((name) => name.length)));
  return {
    row(result: Shown): void {
      const { mark, heading } = verdict(result);
      const [when, ...what] = cellsOf(result, trusted);
      const columns = [heading.padEnd(VERDICT), result.file.padEnd(width), when.padEnd(TIME), ...what.filter(Boolean)];
      out.marked(mark, columns.join("  ").trimEnd());
    },
    /** Prints the lines below the rows: the keys that all verdicts rest on, and the number of files for each verdict. */
    end(results: readonly Result[]): void {
      out.line(basisLine(trusted));
      out.line(summary(results));
    },
  };
}

/** The cells of a row after the verdict and the file: when it happened, then what, and remarks. */
function cellsOf(result: Shown, trusted: TrustedKeys | undefined): [when: string, ...what: string[]] {
  switch (result.kind) {
    case "unreadable":
      return ["", result.why];
    case "receipt": {
      const trouble = receiptTrouble(result.findings);
      const { receipt } = result.findings;
      if (trouble !== undefined || receipt === undefined) return ["", `receipt: ${trouble}`];
      return [utcTime(receipt.issuedAt), `receipt of a payment on ${railLabel(receipt.network)}`];
    }
    case "checked":
      return [...statementOf(result), ...remarksOn(result, trusted)];
  }
}

/** When the transaction happened (without a time, the round of the record), and what it was; empty unless proven. */
function statementOf(checked: Checked): [when: string, what: string] {
  const { report, bundle } = checked;
  if (!isProven(checked) || bundle === undefined) return ["", ""];
  const subject = subjectOf(bundle);
  const { block, outcome } = circumstancesOf(subject, report);
  const when = block?.time === undefined ? `recorded in round ${signedPart(bundle).attest.round}` : utcTime(block.time);
  return [when, subjectLine(subject, outcome)];
}
