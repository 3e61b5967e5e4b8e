import { aborted } from "node:util";
import { conclusionOf } from "@attestd/proof";
import { conclusionOfFile, type FileConclusion, isVerified } from "@attestd/web/verdict";
import { type Checked, checkFile, type Result, serviceToAsk, type TrustOptions, trustedKeys } from "../checked-file.ts";
import type { Environment } from "../environment.ts";
import { EXIT, type ExitCode, Failure } from "../failure.ts";
import { type TrustedKeys, trustForPrograms } from "../keys-file.ts";
import { basisLine, evidence, verdict, warnings } from "../report-text.ts";
import type { Terminal } from "../terminal.ts";

export type VerifyOptions = TrustOptions & { json?: boolean };

/**
 * Checks bundles, one after another, and prints the result of each.
 *
 * @param files paths; `-` is standard input
 * @returns for several files: not verified before unreadable before unreachable
 */
export async function verify(files: string[], options: VerifyOptions, environment: Environment): Promise<ExitCode> {
  const trusted = await trustedKeys(options);
  const service = await serviceToAsk(options, trusted);
  const { out } = environment;
  const stop = environment.stop();
  const interrupted = aborted(stop, stop);
  using working = environment.working(service && "asking the chains");
  const results: Result[] = [];
  for (const file of files) {
    if (files.length > 1) working.show(`${results.length + 1} of ${files.length}`);
    const result = await Promise.race([checkFile(file, trusted, service, environment), interrupted]);
    if (!result || stop.aborted)
      throw new Failure(EXIT.interrupted, "interrupted", [`${results.length} of ${files.length} files were checked.`]);
    results.push(result);
    if (options.json) printJson(result, trusted, environment);
    else if (files.length === 1) printWhole(result, trusted, out);
    else printLine(result, trusted, out);
  }
  if (files.length > 1 && !options.json) {
    out.line(basisLine(trusted));
    out.line(summary(results));
  }
  return exitCode(results);
}

function printJson(result: Result, trusted: TrustedKeys | undefined, { out, err }: Environment): void {
  const { file } = result;
  if (result.kind === "unreadable") {
    err.line(`attestd: can't read ${file}: ${result.why}`);
    out.json({ file, verified: false, unreadable: result.why });
    return;
  }
  const { report, certificate, ledgerTrouble } = result;
  if (ledgerTrouble !== undefined) err.line(`attestd: couldn't ask the ledger about ${file}: ${ledgerTrouble}`);
  const verified = isVerified(result);
  out.json({ file, ...report, verified, ...(certificate && { certificate }), trust: trustForPrograms(trusted) });
}

function printWhole(result: Result, trusted: TrustedKeys | undefined, out: Terminal): void {
  const { mark, heading } = headline(result);
  out.marked(mark, `${heading}  ${result.file}`);
  const lines = result.kind === "unreadable" ? [result.why] : evidence(result, trusted, out);
  for (const line of lines) out.line(`  ${line}`);
  const trouble = result.kind === "checked" ? result.ledgerTrouble : undefined;
  if (trouble !== undefined) out.line(`  couldn't ask the ledger; the offline result stands: ${trouble}`);
}

function printLine(result: Result, trusted: TrustedKeys | undefined, out: Terminal): void {
  const { mark, heading } = headline(result);
  const remarks = result.kind === "unreadable" ? [result.why] : remarksOn(result, trusted);
  out.marked(mark, [heading, result.file, ...remarks].join("  "));
}

function remarksOn({ report, certificate, ledgerTrouble }: Checked, trusted: TrustedKeys | undefined): string[] {
  const checks = conclusionOf(report) === "unknown" ? [] : report.failures.map(({ check }) => check);
  const failed = new Set<string>(certificate?.words === "fail" ? [...checks, "certificate"] : checks);
  const warned = report.verified ? warnings(report, trusted) : [];
  const trouble = ledgerTrouble === undefined ? "" : "couldn't ask the ledger";
  return [[...failed].join(", "), warned.join(" "), trouble].filter(Boolean);
}

function headline(result: Result) {
  return result.kind === "checked" ? verdict(result) : { mark: "fail" as const, heading: "Can't read" };
}

function summary(results: Result[]): string {
  const checked = results.filter((result) => result.kind === "checked");
  const concluded = (...any: FileConclusion[]) => checked.filter((one) => any.includes(conclusionOfFile(one))).length;
  const counts: [number, string][] = [
    [concluded("verified", "warning"), "verified"],
    [concluded("failed", "revoked", "altered"), "not verified"],
    [concluded("unknown"), "signer unknown"],
    [concluded("uncompared"), "with text that was not compared"],
    [results.length - checked.length, "unreadable"],
    [checked.filter(({ ledgerTrouble }) => ledgerTrouble !== undefined).length, "not compared with the ledger"],
  ];
  return counts
    .filter(([n, what]) => n > 0 || what === "verified")
    .map(([n, what]) => `${n} ${what}`)
    .join(", ");
}

function exitCode(results: Result[]): ExitCode {
  const checked = results.filter((result) => result.kind === "checked");
  if (!checked.every(isVerified)) return EXIT.notVerified;
  if (checked.length < results.length) return EXIT.unreadable;
  return checked.some(({ ledgerTrouble }) => ledgerTrouble !== undefined) ? EXIT.unreachable : EXIT.good;
}
