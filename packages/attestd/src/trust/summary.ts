import { conclusionOf } from "@attestd/proof";
import { railLabel } from "@attestd/proof/rails";
import { utcTime } from "@attestd/proof/text";
import { hostOf } from "@attestd/web/printable";
import type { ReceiptFindings } from "@attestd/web/receipt-file";
import { historyOf } from "@attestd/web/trust-basis";
import { conclusionOfFile, type FileConclusion } from "@attestd/web/verdict";
import type { Terminal } from "../terminal/terminal.ts";
import type { Checked, Result } from "./check-file.ts";
import type { TrustedKeys } from "./keys.ts";
import { warnings } from "./report-text.ts";

/** Why a receipt is not believed, in one line. */
export function receiptTrouble({ conclusion, why }: ReceiptFindings): string | undefined {
  switch (conclusion) {
    case "verified":
      return undefined;
    case "unknown":
      return "its key is in no history here; anyone could have made it";
    case "revoked":
      return "its key was withdrawn, and a receipt does not show that it is older";
    case "failed":
      return `changed after signing, or no receipt: ${why}`;
  }
}

/** The lines below the verdict about a receipt. @param out shortens ids */
export function receiptEvidence(
  findings: ReceiptFindings,
  trusted: TrustedKeys | undefined,
  out: Pick<Terminal, "short">,
): string[] {
  const { receipt, kid = "", conclusion } = findings;
  const trouble = receiptTrouble(findings);
  if (receipt === undefined || conclusion !== "verified") return trouble === undefined ? [] : [trouble];
  const origin = historyOf(trusted?.trust)?.keys.find((key) => key.kid === kid)?.origin;
  return [
    `receipt of the payment ${out.short(receipt.transaction)} on ${railLabel(receipt.network)}, by ${out.short(receipt.payer)}`,
    `for ${receipt.resourceUrl}, delivered ${utcTime(receipt.issuedAt)}`,
    `signed by ${origin === undefined ? "" : `${hostOf(origin)}, `}key ${out.short(kid)}`,
    "It names the payment, not the bundle; amount and payee are on the payment's chain.",
  ];
}

/** Why a bundle is not verified, its warnings, and what to say about its receipt; some may be empty. */
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

/** One line with the number of files for each verdict. */
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
    [results.filter(({ kind }) => kind === "other").length, "of other kinds, left out"],
  ];
  return counts
    .filter(([n, what]) => n > 0 || what === "verified")
    .map(([n, what]) => `${n} ${what}`)
    .join(", ");
}
