import { conclusionOf } from "@attestd/proof";
import { conclusionOfFile, type FileConclusion, isVerified } from "@attestd/web/file-verdict";
import type { Environment } from "../environment.ts";
import { EXIT, type ExitCode, Failure } from "../failure.ts";
import { judgeFile, type Result, serviceToAsk, type TrustOptions, trustedKeys } from "../judged-file.ts";
import type { Believed } from "../keys-file.ts";
import { basisLine, evidence, stated, verdict, warnings } from "../report-text.ts";
import { aborted } from "../stop.ts";
import type { Terminal } from "../terminal.ts";

export type VerifyOptions = TrustOptions & { json?: boolean };

/**
 * Checks bundles, one after another, and prints the result of each.
 *
 * @param files paths; `-` is standard input
 * @returns for several files: not verified before unreadable before unreachable
 * @throws Failure when options contradict each other
 */
export async function verify(files: string[], options: VerifyOptions, environment: Environment): Promise<ExitCode> {
  const believed = await trustedKeys(options);
  const service = await serviceToAsk(options, believed);
  const { out } = environment;
  const stop = environment.stop();
  const interrupted = aborted(stop);
  using working = environment.working(service && "asking the chains");
  const results: Result[] = [];
  for (const file of files) {
    if (files.length > 1) working.say(`${results.length + 1} of ${files.length}`);
    const result = await Promise.race([judgeFile(file, believed, service, environment), interrupted]);
    if (!result || stop.aborted)
      throw new Failure(EXIT.interrupted, "interrupted", [`${results.length} of ${files.length} files were checked.`]);
    results.push(result);
    if (options.json) printJson(result, believed, environment);
    else if (files.length === 1) printWhole(result, believed, out);
    else printLine(result, believed, out);
  }
  if (files.length > 1 && !options.json) {
    out.line(basisLine(believed));
    out.line(summary(results));
  }
  return exitCode(results);
}

function printJson(result: Result, believed: Believed | undefined, { out, err }: Environment): void {
  const { file } = result;
  const judged = result.kind === "judged";
  const trouble = judged ? result.ledgerTrouble : result.why;
  if (trouble !== undefined)
    err.line(`attestd: ${judged ? "couldn't ask the ledger about" : "can't read"} ${file}: ${trouble}`);
  if (judged) {
    const { report, certificate } = result;
    out.json({
      file,
      ...report,
      verified: isVerified(result),
      ...(certificate && { certificate }),
      trust: stated(believed),
    });
  } else out.json({ file, verified: false, unreadable: result.why });
}

function printWhole(result: Result, believed: Believed | undefined, out: Terminal): void {
  const { mark, heading } = headline(result);
  out.marked(mark, `${heading}  ${result.file}`);
  for (const line of below(result, believed, out)) out.line(`  ${line}`);
}

function below(result: Result, believed: Believed | undefined, out: Terminal): string[] {
  if (result.kind === "unreadable") return [result.why];
  const { ledgerTrouble } = result;
  const trouble = ledgerTrouble === undefined ? [] : [`couldn't ask the ledger, the result stands: ${ledgerTrouble}`];
  return [...evidence(result, believed, out), ...trouble];
}

function printLine(result: Result, believed: Believed | undefined, out: Terminal): void {
  const { mark, heading } = headline(result);
  out.marked(mark, [heading, result.file, ...remark(result, believed)].join("  "));
}

function remark(result: Result, believed: Believed | undefined): string[] {
  if (result.kind === "unreadable") return [result.why];
  const { report, certificate, ledgerTrouble } = result;
  const checks = conclusionOf(report) === "unknown" ? [] : report.failures.map(({ check }) => check);
  const failed = [...new Set<string>(certificate?.words === "fail" ? [...checks, "certificate"] : checks)];
  const warned = report.verified ? warnings(report, believed).join(" ") : "";
  return [failed.join(", "), warned, ledgerTrouble === undefined ? "" : "couldn't ask the ledger"].filter(Boolean);
}

function headline(result: Result) {
  return result.kind === "judged" ? verdict(result) : { mark: "fail" as const, heading: "Can't read" };
}

function summary(results: Result[]): string {
  const count = (of: (result: Result) => boolean) => results.filter(of).length;
  const concluded = (...any: FileConclusion[]) =>
    count((r) => r.kind === "judged" && any.includes(conclusionOfFile(r)));
  const counts: [number, string][] = [
    [concluded("verified", "warning"), "verified"],
    [concluded("failed", "revoked", "altered"), "not verified"],
    [concluded("unknown"), "signer unknown"],
    [concluded("uncompared"), "with words that were not compared"],
    [count((r) => r.kind === "unreadable"), "unreadable"],
    [count((r) => r.kind === "judged" && r.ledgerTrouble !== undefined), "not compared with the ledger"],
  ];
  return counts
    .filter(([n, what]) => n > 0 || what === "verified")
    .map(([n, what]) => `${n} ${what}`)
    .join(", ");
}

function exitCode(results: Result[]): ExitCode {
  if (results.some((r) => r.kind === "judged" && !isVerified(r))) return EXIT.notVerified;
  if (results.some((r) => r.kind === "unreadable")) return EXIT.unreadable;
  if (results.some((r) => r.kind === "judged" && r.ledgerTrouble !== undefined)) return EXIT.unreachable;
  return EXIT.good;
}
