import { type Attestation, clockSentence, formatUsdc, type Progress } from "@attestd/client";
import { conclusionOf, signedPart } from "@attestd/proof";
import { railLabel } from "@attestd/proof/rails";
import { utcTime } from "@attestd/proof/text";
import { receiptFileName } from "@attestd/web/receipt-file";
import type { TrustedKeys } from "./keys-file.ts";
import type { Working } from "./live-line.ts";
import { basisLine, evidence, warnings } from "./report-text.ts";
import type { Terminal } from "./terminal.ts";

/** The step that follows each step. */
const NEXT: Record<Progress["step"], string> = {
  offered: "signing",
  dated: "signing",
  signed: "paying and recording",
  resumed: "waiting for the bundle",
  waiting: "waiting for the bundle",
  refused: "waiting until the payment can no longer be taken",
};

/** What is waited for while the source is too new. */
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
        out.line(`  waiting    ${now}; the same payment is sent again`);
        working.show(`waiting ${now}`);
      }
      awaited = now;
      return;
    }
    awaited = undefined;
    working.show(NEXT[progress.step]);
    if (progress.step === "signed") return out.marked("ok", "signed", 2);
    if (progress.step === "dated") return out.line(clockLine(progress.aheadMs));
    if (progress.step === "refused") return out.line(`  refused    by the service; ${heldUntil(progress.until)}`);
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

/** Prints each signature of a list. @param onSigned gets its micro-USDC */
export function signatureLines(out: Terminal, onSigned: (amount: bigint) => void): (progress: Progress) => void {
  return (progress) => {
    if (progress.step === "dated") return out.line(clockLine(progress.aheadMs));
    if (progress.step !== "signed") return;
    const { amount, network } = progress.offer;
    onSigned(BigInt(amount));
    out.marked("ok", `signed ${formatUsdc(BigInt(amount))} USDC on ${railLabel(network)}`, 2);
  };
}

function clockLine(aheadMs: number): string {
  return `  clock      ${clockSentence(aheadMs)}; the payment is dated by the service's`;
}

/** Until when a payment stays the only one. @param until ms since 1970, by this device's clock */
export function heldUntil(until: number): string {
  return `it can be taken until ${utcTime(Math.ceil(until / 1000))}, and no other is signed before`;
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
