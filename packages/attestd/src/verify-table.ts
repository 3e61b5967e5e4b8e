import { conclusionOf, signedPart } from "@attestd/proof";
import { circumstancesOf, subjectLine, subjectOf } from "@attestd/proof/description";
import { railLabel } from "@attestd/proof/rails";
import { utcTime } from "@attestd/proof/text";
import { conclusionOfFile, type FileConclusion, isProven } from "@attestd/web/verdict";
import type { Checked, Result } from "./checked-file.ts";
import type { TrustedKeys } from "./keys-file.ts";
import { receiptTrouble } from "./receipt-text.ts";
import { basisLine, verdict, warnings } from "./report-text.ts";
import type { Terminal } from "./terminal.ts";

/** Columns of the longest verdict, and of a time. */
const VERDICT = "Verified, with a warning".length;
const TIME = "2026-11-21 14:03:07 UTC".length;
/** A longer name pushes its row's other columns to the right. */
const MAX_NAME = 48;

/** A table of files that are checked one after the other. @param names that set the width of a column */
export function tableOf(names: readonly string[], trusted: TrustedKeys | undefined, out: Terminal) {
  const width = Math.min(MAX_NAME, Math.max(...names.map((name) => name.length)));
  const print = (result: Exclude<Result, { kind: "other" }>, when: string, ...what: string[]) => {
    const { mark, heading } = verdict(result);
    const columns = [heading.padEnd(VERDICT), result.file.padEnd(width), when.padEnd(TIME), ...what.filter(Boolean)];
    out.marked(mark, columns.join("  ").trimEnd());
  };
  return {
    row(result: Result): void {
      switch (result.kind) {
        case "other":
          break;
        case "unreadable":
          print(result, "", result.why);
          break;
        case "receipt": {
          const { findings } = result;
          const trouble = receiptTrouble(findings);
          const { receipt } = findings;
          const isSigned = trouble === undefined && receipt !== undefined;
          const what = isSigned ? `receipt of a payment on ${railLabel(receipt.network)}` : `receipt: ${trouble}`;
          print(result, isSigned ? utcTime(receipt.issuedAt) : "", what);
          break;
        }
        case "checked":
          print(result, ...statementOf(result), ...remarksOn(result, trusted));
      }
    },
    /** Prints what stands below the rows: the keys that all verdicts rest on, and how many files have which. */
    end(results: readonly Result[]): void {
      out.line(basisLine(trusted));
      out.line(summary(results));
    },
  };
}

/** When it happened, or else the round of the record, and what; of a proven bundle alone. */
function statementOf(checked: Checked): [when: string, what: string] {
  const { report, bundle } = checked;
  if (!isProven(checked) || bundle === undefined) return ["", ""];
  const subject = subjectOf(bundle);
  const { block, outcome } = circumstancesOf(subject, report);
  const when = block?.time === undefined ? `recorded in round ${signedPart(bundle).attest.round}` : utcTime(block.time);
  return [when, subjectLine(subject, outcome)];
}

/** Why it is not verified, its warnings, and what is said of its receipt; some are empty. */
export function remarksOn(checked: Checked, trusted: TrustedKeys | undefined): string[] {
  const { report, certificate, ledgerTrouble, payment } = checked;
  const isUnknown = conclusionOf(report) === "unknown";
  const failed = new Set<string>(isUnknown ? [] : report.failures.map(({ check }) => check));
  if (certificate?.words === "fail") failed.add("certificate");
  const trouble = payment && receiptTrouble(payment.findings);
  return [
    [...failed].join(", "),
    ...(report.verified ? warnings(report, trusted) : []),
    ledgerTrouble === undefined ? "" : "couldn't ask the ledger",
    payment && trouble === undefined ? "with its receipt" : "",
    trouble === undefined ? "" : `its receipt: ${trouble}`,
  ];
}

/** How many files have which verdict, in one line. */
export function summary(results: readonly Result[]): string {
  const checked = results.filter((result) => result.kind === "checked");
  const receipts = results.flatMap((result) => {
    if (result.kind === "receipt") return [result];
    return result.kind === "checked" && result.payment ? [result.payment] : [];
  });
  const unreadable = results.filter((result) => result.kind === "unreadable");
  const concluded = (...any: FileConclusion[]) => checked.filter((one) => any.includes(conclusionOfFile(one))).length;
  const signed = receipts.filter(({ findings }) => findings.conclusion === "verified").length;
  const counts: [number, string][] = [
    [concluded("verified", "warning"), "verified"],
    [concluded("failed", "revoked", "altered"), "not verified"],
    [concluded("unknown"), "signer unknown"],
    [concluded("elsewhere"), "for another ledger"],
    [concluded("uncompared"), "with text that was not compared"],
    [signed, signed === 1 ? "receipt verified" : "receipts verified"],
    [receipts.length - signed, receipts.length - signed === 1 ? "receipt not verified" : "receipts not verified"],
    [unreadable.length, "unreadable"],
    [checked.filter(({ ledgerTrouble }) => ledgerTrouble !== undefined).length, "not compared with the ledger"],
    [results.filter(({ kind }) => kind === "other").length, "of other things, left out"],
  ];
  return counts
    .filter(([n, what]) => n > 0 || what === "verified")
    .map(([n, what]) => `${n} ${what}`)
    .join(", ");
}
