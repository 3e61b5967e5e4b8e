import { type Attestation, formatUsdc, type Progress } from "@attestd/client";
import { conclusionOf, signedPart } from "@attestd/proof";
import { railLabel } from "@attestd/proof/rails";
import { receiptFileName } from "@attestd/web/receipt-file";
import type { TrustedKeys } from "./keys-file.ts";
import type { Working } from "./live-line.ts";
import { basisLine, evidence, warnings } from "./report-text.ts";
import type { Terminal } from "./terminal.ts";

/** The step that follows each step. */
const NEXT: Record<Progress["step"], string> = {
  offered: "signing",
  signed: "paying and recording",
  resumed: "waiting for the bundle",
  waiting: "waiting for the bundle",
};

/** What is waited for while the source is too new. Nothing is paid before. */
const AWAITED: Readonly<Record<string, string | undefined>> = {
  source_not_found: "until the service knows the transaction",
  source_not_final: "until it is final",
  block_not_found: "until there is such a block",
};

/** Prints each step of a purchase when it is done, and what comes next on the live line. */
export function progressLines(out: Terminal, working: Working): (progress: Progress) => void {
  let awaited: string | undefined;
  return (progress) => {
    const now = progress.step === "waiting" ? AWAITED[progress.code ?? ""] : undefined;
    if (now !== undefined) {
      // The line counts the time of the whole wait.
      if (now !== awaited) {
        out.line(`  waiting    ${now}; nothing is paid before`);
        working.show(`waiting ${now}`);
      }
      awaited = now;
      return;
    }
    // A payment that expired during the wait is signed again.
    if (awaited !== undefined && (progress.step === "offered" || progress.step === "signed")) return;
    awaited = undefined;
    working.show(NEXT[progress.step]);
    if (progress.step === "signed") return out.marked("ok", "signed", 2);
    if (progress.step === "waiting") {
      const seconds = Math.ceil(progress.retryInMs / 1000);
      return out.line(`  waiting    ${progress.code ?? "no answer"}; the same payment is sent again in ${seconds} s`);
    }
    const { network, amount, payer } = progress.offer;
    const price = `${formatUsdc(BigInt(amount))} USDC on ${railLabel(network)}`;
    if (progress.step === "resumed") return out.line(`  resuming   ${price}, signed before; nothing new is signed`);
    out.line(`  price      ${price}, from ${out.short(payer)}`);
  };
}

/** Prints the result; for a bundle that is not verified, none of its claims. */
export function printResult(
  out: Terminal,
  { bundle, report, receipt, signedReceipt }: Attestation,
  { file, trusted, seconds }: { file: string; trusted: TrustedKeys | undefined; seconds: number },
): void {
  if (receipt) out.marked("ok", `paid     ${out.short(receipt.transaction)}`, 2);
  if (report.verified) {
    out.marked("ok", `${`recorded round ${signedPart(bundle).attest.round}`.padEnd(28)}${seconds.toFixed(1)} s`, 2);
    out.marked("ok", `verified, saved ${file}`, 2);
    if (signedReceipt) out.line(`    its receipt: ${receiptFileName(file)}`);
    out.line(`    ${basisLine(trusted)}`);
    for (const warning of warnings(report, trusted)) out.marked("warning", warning, 2);
    return;
  }
  const unknown = conclusionOf(report) === "unknown";
  out.marked(unknown ? "unknown" : "fail", `saved ${file}, ${unknown ? "signer unknown" : "not verified"}`, 2);
  for (const line of evidence({ report, bundle }, trusted, out)) out.line(`    ${line}`);
}
