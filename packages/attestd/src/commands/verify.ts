import { aborted } from "node:util";
import { isVerified } from "@attestd/web/verdict";
import { chainCheck } from "../chain-check.ts";
import {
  type CheckedReceipt,
  checkSource,
  isReceiptOf,
  type Result,
  type TrustOptions,
  trustedKeys,
} from "../checked-file.ts";
import type { Environment } from "../environment.ts";
import { EXIT, type ExitCode, Failure } from "../failure.ts";
import { type TrustedKeys, trustForPrograms } from "../keys-file.ts";
import { receiptEvidence, receiptVerdict } from "../receipt-text.ts";
import { basisLine, evidence, verdict } from "../report-text.ts";
import { nothingIn, type Source, sourcesOf } from "../sources.ts";
import type { Terminal } from "../terminal.ts";
import type { tableOf } from "../verify-table.ts";

export type VerifyOptions = TrustOptions & { json?: boolean };

/**
 * Checks bundles, one after another, and prints the result of each.
 *
 * @param names files, folders, URLs; `-` is standard input
 * @returns for several files: not verified before unreadable before unreachable
 */
export async function verify(names: string[], options: VerifyOptions, environment: Environment): Promise<ExitCode> {
  const trusted = await trustedKeys(options);
  const chains = await chainCheck(options, trusted);
  const { out } = environment;
  const stop = environment.stop();
  const interrupted = aborted(stop, stop);
  using working = environment.working(chains && "asking the chains");
  const sources = withoutReceiptsBeside(await sourcesOf(names));
  const isMany = sources.length !== 1 || sources.some(({ isFound }) => isFound);
  // What describes transactions is loaded only for a table.
  const table = isMany && !options.json ? await loadTable(sources, trusted, out) : undefined;
  const results: Result[] = [];
  for (const source of sources) {
    if (isMany) working.show(`${results.length + 1} of ${sources.length}`);
    const result = await Promise.race([checkSource(source, trusted, chains, environment), interrupted]);
    if (!result || stop.aborted) throw stopped(results.length, sources.length);
    results.push(result);
    if (options.json) printJson(result, trusted, environment);
    else if (table) table.row(result);
    else printWhole(result, trusted, out);
  }
  working.show(undefined);
  if (results.every(({ kind }) => kind === "other")) throw nothingIn(names, results.length);
  table?.end(results);
  return exitCode(results);
}

async function loadTable(...of: Parameters<typeof tableOf>) {
  return (await import("../verify-table.ts")).tableOf(...of);
}

/** A receipt is checked with the bundle that it stands beside. */
function withoutReceiptsBeside(sources: Source[]): Source[] {
  const files = sources.filter(({ kind }) => kind === "file");
  return sources.filter(({ name }) => !files.some((bundle) => isReceiptOf(name, bundle.name)));
}

function stopped(done: number, all: number): Failure {
  return new Failure(EXIT.interrupted, "interrupted", [`${done} of ${all} files were checked.`]);
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
  const { report, certificate, payment } = result;
  const paymentReceipt = payment && { file: payment.file, ...receiptForPrograms(payment) };
  return {
    ...report,
    verified: isVerified(result),
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
  const { mark, heading } = headline(result);
  out.marked(mark, `${heading}  ${result.file}`);
  for (const line of linesOf(result, trusted, out)) out.line(`  ${line}`);
  if (result.kind !== "checked") return;
  const { ledgerTrouble, payment } = result;
  if (ledgerTrouble !== undefined) out.line(`  couldn't ask the ledger; the offline result stands: ${ledgerTrouble}`);
  if (payment === undefined) return;
  const { mark: ofReceipt, heading: said } = receiptVerdict(payment.findings);
  out.marked(ofReceipt, `${said}  ${payment.file}`);
  for (const line of receiptEvidence(payment.findings, trusted, out)) out.line(`  ${line}`);
}

function linesOf(
  result: Exclude<Result, { kind: "other" }>,
  trusted: TrustedKeys | undefined,
  out: Terminal,
): string[] {
  if (result.kind === "unreadable") return [result.why];
  if (result.kind === "checked") return evidence(result, trusted, out);
  return [...receiptEvidence(result.findings, trusted, out), basisLine(trusted)];
}

function headline(result: Exclude<Result, { kind: "other" }>) {
  if (result.kind === "unreadable") return { mark: "fail" as const, heading: "Can't read" };
  return result.kind === "checked" ? verdict(result) : receiptVerdict(result.findings);
}

function exitCode(results: Result[]): ExitCode {
  const bad = results.some((result) => !isGood(result));
  if (bad) return EXIT.notVerified;
  const codes = results.flatMap((result) => (result.kind === "unreadable" ? [result.exitCode] : []));
  const troubled = results.some((result) => result.kind === "checked" && result.ledgerTrouble !== undefined);
  if (codes.includes(EXIT.unreadable)) return EXIT.unreadable;
  return troubled || codes.length > 0 ? EXIT.unreachable : EXIT.good;
}

/** Whether nothing that was checked is doubtful. */
function isGood(result: Result): boolean {
  if (result.kind === "receipt") return result.findings.conclusion === "verified";
  return result.kind !== "checked" || (isVerified(result) && (!result.payment || isGood(result.payment)));
}
