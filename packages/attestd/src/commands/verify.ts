import { isVerified } from "@attestd/web/verdict";
import type { CheckedReceipt, Result, TrustOptions } from "../checked-file.ts";
import { exitCodeOf, openChecking } from "../checked-files.ts";
import type { Environment } from "../environment.ts";
import type { EvidenceFiles } from "../evidence-file.ts";
import { EXIT, type ExitCode, Failure } from "../failure.ts";
import { type TrustedKeys, trustForPrograms } from "../keys-file.ts";
import { receiptEvidence } from "../receipt-text.ts";
import { basisLine, evidence as linesOfReport, verdict } from "../report-text.ts";
import type { Terminal } from "../terminal.ts";

export type VerifyOptions = TrustOptions & EvidenceFiles & { json?: boolean };

/**
 * Checks bundles, one after another, and prints the result of each.
 *
 * @param names files, folders, URLs; `-` is standard input
 * @returns for several files: not verified before unreadable before unreachable
 */
export async function verify(names: string[], options: VerifyOptions, environment: Environment): Promise<ExitCode> {
  const { sources, trusted, results } = await openChecking(names, options, environment);
  const { out } = environment;
  const isMany = sources.length !== 1 || sources.some(({ isFound }) => isFound);
  const evidence = await evidenceBeside(options, isMany);
  // What describes transactions is loaded only for a table.
  const tableFor = async (files: readonly string[]) =>
    options.json ? undefined : (await import("../verify-table.ts")).tableOf(files, trusted, out);
  let table = isMany ? await tableFor(sources.map(({ name }) => name)) : undefined;
  const checked: Result[] = [];
  for await (const group of results) {
    // The items of one batch are many, too.
    if (group.length > 1) table ??= await tableFor(group.map(({ file }) => file));
    for (const found of group) {
      // What a certificate carries is checked without being asked for.
      const check =
        evidence ?? (found.kind === "checked" && found.evidence ? await carriedEvidence(isMany) : undefined);
      const result = check && found.kind === "checked" ? await check(found).catch(oneOf(isMany, found.file)) : found;
      checked.push(result);
      if (options.json) printJson(result, trusted, environment);
      else if (table) table.row(result);
      else printWhole(result, trusted, out);
    }
  }
  table?.end(checked);
  return exitCodeOf(checked);
}

/** Loads the code for evidence only for evidence. */
async function evidenceBeside(files: EvidenceFiles, isMany: boolean) {
  const { evidence, checkpoint, checkpointRoot, stateProofs } = files;
  const isAsked = [evidence, checkpoint, checkpointRoot, stateProofs].some((one) => one !== undefined);
  if (!isAsked) return undefined;
  if (evidence !== undefined && isMany)
    throw new Failure(EXIT.usage, "--evidence is of one bundle", [
      "Without it, evidence beside each bundle is checked: b.evidence.json of b.json.",
    ]);
  return (await import("../evidence-file.ts")).evidenceCheck(files, isMany);
}

async function carriedEvidence(isMany: boolean) {
  return (await import("../evidence-file.ts")).evidenceCheck({}, isMany);
}

/** Of many files, one whose evidence cannot be read takes nothing from the others. */
function oneOf(isMany: boolean, file: string) {
  return (error: unknown): Result => {
    if (!isMany || !(error instanceof Failure)) throw error;
    return { kind: "unreadable", file, why: [`${error.message}.`, ...error.more].join(" "), exitCode: error.exitCode };
  };
}

function printJson(result: Result, trusted: TrustedKeys | undefined, { out, err }: Environment): void {
  const { file } = result;
  if (result.kind === "other") return;
  if (result.kind === "unreadable") err.line(`attestd: can't read ${file}: ${result.why}`);
  if (result.kind === "checked" && result.ledgerTrouble !== undefined)
    err.line(`attestd: couldn't ask the ledger about ${file}: ${result.ledgerTrouble}`);
  out.json({ file, ...forPrograms(result, trusted) });
}

function forPrograms(result: Exclude<Result, { kind: "other" }>, trusted: TrustedKeys | undefined): object {
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

function printWhole(result: Result, trusted: TrustedKeys | undefined, out: Terminal): void {
  if (result.kind === "other") return;
  const { mark, heading } = verdict(result);
  out.marked(mark, `${heading}  ${result.file}`);
  for (const line of linesOf(result, trusted, out)) out.line(`  ${line}`);
  if (result.kind !== "checked") return;
  const { ledgerTrouble, payment } = result;
  if (ledgerTrouble !== undefined) out.line(`  couldn't ask the ledger; the offline result stands: ${ledgerTrouble}`);
  if (payment === undefined) return;
  const { mark: ofReceipt, heading: said } = verdict(payment);
  out.marked(ofReceipt, `${said}  ${payment.file}`);
  for (const line of receiptEvidence(payment.findings, trusted, out)) out.line(`  ${line}`);
}

function linesOf(
  result: Exclude<Result, { kind: "other" }>,
  trusted: TrustedKeys | undefined,
  out: Terminal,
): string[] {
  if (result.kind === "unreadable") return [result.why];
  if (result.kind === "checked") return linesOfReport(result, trusted, out);
  return [...receiptEvidence(result.findings, trusted, out), basisLine(trusted)];
}
