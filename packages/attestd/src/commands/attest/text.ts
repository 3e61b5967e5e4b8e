import { type Attestation, AttestError, canBeTaken, clockSentence, formatUsdc, type Progress } from "@attestd/client";
import { conclusionOf, signedPart } from "@attestd/proof";
import { railLabel } from "@attestd/proof/rails";
import { utcTime } from "@attestd/proof/text";
import { receiptFileName } from "@attestd/web/receipt-file";
import { EXIT, type ExitCode, Failure, fileTrouble } from "../../failure.ts";
import type { Terminal, Working } from "../../terminal/terminal.ts";
import type { TrustedKeys } from "../../trust/keys.ts";
import { basisLine, evidence, warnings } from "../../trust/report-text.ts";

/** What the command does after each step. */
const NEXT: Record<Progress["step"], string> = {
  offered: "signing",
  dated: "signing",
  signed: "paying and recording",
  resumed: "waiting for the bundle",
  waiting: "waiting for the bundle",
  refused: "waiting until the payment can no longer be taken",
};

/** What the command waits for while the source is too new, by the code of the answer. */
const AWAITED: Readonly<Record<string, string | undefined>> = {
  source_not_found: "until the service knows the transaction",
  source_not_final: "until it is final",
  block_not_found: "until there is such a block",
};

const AGAIN = "Run the same command again; you will not pay twice.";
/** Printed only if this command has sent no payment. */
const UNPAID = "Nothing was paid.";
const IS_IT_RUNNING = "Is the sandbox running? Start it with: attestd sandbox";

/** Prints each step of a purchase when it is done, and what comes next on the live line. */
export function progressLines(out: Terminal, working: Working): (progress: Progress) => void {
  let awaited: string | undefined;
  return (progress) => {
    const now = progress.step === "waiting" ? AWAITED[progress.code ?? ""] : undefined;
    if (now !== undefined) {
      // The live line shows how long the command has waited in all.
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

/** Until when a signed payment keeps the command from signing another. @param until ms since 1970, by this device's clock */
export function heldUntil(until: number): string {
  return `it can be taken until ${utcTime(Math.ceil(until / 1000))}, and no other is signed before`;
}

/** Prints the result of a purchase. For a bundle that is not verified it prints none of its claims. */
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

/** `vault`: knows the file of the signed payment, if there is one. `inSandbox`: the service is the sandbox's in `./.attestd`. */
type Purchase = { vault: { path(id: string): string }; inSandbox: boolean };

/** The exit code, what happened and, in further lines, why and what to do next. */
type Text = [exitCode: ExitCode, what: string, ...more: string[]];

/** The failure of the command for an error of its purchase. @throws every other error */
export function attestFailure(error: unknown, purchase: Purchase): Failure {
  if (!(error instanceof AttestError)) throw error;
  const [exitCode, what, ...more] = textOf(error, purchase);
  const isPending = exitCode === EXIT.paidUnfinished;
  return new Failure(exitCode, what, [...more, ...(isPending ? [] : sumOf(error.signed))], error);
}

/** The failure of a command that is interrupted while it asks whether to pay. @param signed micro-USDC, by this command */
export function interrupted(signed: bigint): Failure {
  return new Failure(EXIT.interrupted, "interrupted", signed > 0n ? [AGAIN, ...sumOf(signed)] : [UNPAID]);
}

/** The sum that this command has signed, if any. @param signed micro-USDC */
function sumOf(signed: bigint | undefined): string[] {
  return signed ? [`This command has signed ${formatUsdc(signed)} USDC in all.`] : [];
}

function textOf(error: AttestError, { vault, inSandbox }: Purchase): Text {
  const why = sentence(error);
  switch (error.code) {
    case "invalid_option":
      return [EXIT.usage, error.message.replace(/^maxPrice: /, "--max-price: ")];
    case "unreachable":
      return [
        EXIT.unreachable,
        "the service can't be reached",
        why,
        ...fateOf(error),
        ...(inSandbox ? [IS_IT_RUNNING] : []),
      ];
    case "not_yet":
      return [EXIT.unreachable, "not yet", why];
    case "unexpected_answer":
      return [EXIT.unreachable, "this is not an attestd service", why, ...fateOf(error)];
    case "no_usable_offer":
      return [EXIT.notPaid, "not paid", why, "Choose another wallet: --wallet FILE."];
    case "price_too_high":
      return [EXIT.notPaid, "not paid", why, `Allow it with --max-price ${formatUsdc(error.price ?? 0n)}.`];
    case "signing_failed":
      return unsigned(error, why);
    case "vault_failed":
      return [EXIT.notPaid, "not paid: the signed payments can't be read or saved", why];
    case "not_paid":
      return [EXIT.notPaid, "not paid", `The service answered: ${why}`, ...fateOf(error)];
    case "refused":
      return refused(error, why, vault);
    case "paid_unfinished":
      return unfinished(error, why);
    case "save_failed":
      return [EXIT.paidUnfinished, "paid, but the bundle can't be saved", fileTrouble(error.cause), AGAIN];
    case "interrupted":
      return [EXIT.interrupted, "interrupted", ...interruption(error)];
  }
}

/** The wallet did not sign. If the service's keys are not the trusted ones, the wallet's own Failure says so: see `withKeysOf`. */
function unsigned(error: AttestError, why: string): Text {
  const { cause } = error;
  if (cause instanceof Failure) return [cause.exitCode as ExitCode, cause.message, ...cause.more, ...fateOf(error)];
  return [EXIT.notPaid, "not paid", why, ...fateOf(error)];
}

function interruption({ paymentId, signed }: AttestError): string[] {
  if (paymentId !== undefined) return [`A payment is signed. ${AGAIN}`];
  return signed === undefined ? [UNPAID] : [];
}

/** Whether a payment was signed, and whether it can still be taken. */
function fateOf({ until, signed }: AttestError): string[] {
  if (until !== undefined && canBeTaken({ until }, Date.now()))
    return [`The signed payment is kept: ${heldUntil(until)}.`, "The same command sends it again."];
  if (signed === undefined) return [UNPAID];
  return ["The signed payment can no longer be taken. If it was taken before, its chain shows it."];
}

function refused(error: AttestError, why: string, vault: Purchase["vault"]): Text {
  const { problem, paymentId } = error;
  const what = `not attested (${problem?.code ?? "refused"})`;
  const text = (...next: string[]): Text => [EXIT.notPaid, what, why, ...fateOf(error), ...next];
  switch (problem?.code) {
    case "payment_bound_to_other_request":
      return text(`To sign another payment then, remove this one: ${paymentId && vault.path(paymentId)}`);
    case "payment_refunded":
      return paymentId === undefined ? [EXIT.notPaid, what, why, "The same command signs a new payment."] : text();
    case "source_not_final":
      return text("Run the same command again in a few minutes, or with --wait.");
    case "source_not_found":
    case "block_not_found":
      return text("If it is new, wait for it: --wait.");
    case "transaction_failed":
      return text("Without --require it is attested as one that failed.");
    default:
      return text();
  }
}

function unfinished({ problem }: AttestError, why: string): Text {
  switch (problem?.code) {
    case "settlement_pending":
      return [EXIT.paidUnfinished, "paid, not settled yet.", `Waiting for the payment (${problem.code}).`, AGAIN];
    case "attestation_pending":
      return [EXIT.paidUnfinished, "paid, not recorded yet.", `Waiting for Algorand (${problem.code}).`, AGAIN];
    case "payment_unaccounted":
      return [EXIT.paidUnfinished, `paid, not accounted for (${problem.code})`, why, `Tell the operator. ${AGAIN}`];
    default:
      return [EXIT.paidUnfinished, "payment sent, no bundle yet.", why, AGAIN];
  }
}

/** The error's message, with the cause when the service is unreachable. */
function sentence({ message, code, problem, cause }: AttestError): string {
  if (problem?.detail) return problem.detail;
  const reason = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
  return code === "unreachable" && reason instanceof Error
    ? `${message.replace(/\.$/, "")}: ${reason.message}.`
    : message;
}
