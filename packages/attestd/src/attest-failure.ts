import { AttestError, canBeTaken, formatUsdc } from "@attestd/client";
import { heldUntil } from "./attest-text.ts";
import { EXIT, type ExitCode, Failure, fileTrouble } from "./failure.ts";

const AGAIN = "Run the same command again; you will not pay twice.";
/** Said only where there was no payment. */
const UNPAID = "Nothing was paid.";
const IS_IT_RUNNING = "Is the sandbox running? Start it with: attestd sandbox";

/** `vault`: has the file of the signed payment, if there is one. `inSandbox`: the service is the sandbox's in `./.attestd`. */
type Purchase = { vault: { path(id: string): string }; inSandbox: boolean };

/** The exit code, what happened and, in further lines, why and what to do next. */
type Text = [exitCode: ExitCode, what: string, ...more: string[]];

/** The failure of the command for an error of its purchase. @throws every other error */
export function attestFailure(error: unknown, purchase: Purchase): Failure {
  if (!(error instanceof AttestError)) throw error;
  const [exitCode, what, ...more] = textOf(error, purchase);
  return new Failure(exitCode, what, [...more, ...sumOf(error, exitCode)], error);
}

/** What the command has signed, where it was not delivered for. */
function sumOf({ signed }: AttestError, exitCode: ExitCode): string[] {
  if (!signed || exitCode === EXIT.paidUnfinished) return [];
  return [`This command has signed ${formatUsdc(signed)} USDC in all.`];
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

/** The wallet did not sign. Its own Failure says why: see `withKeysOf`. */
function unsigned(error: AttestError, why: string): Text {
  const { cause } = error;
  if (cause instanceof Failure) return [cause.exitCode as ExitCode, cause.message, ...cause.more, ...fateOf(error)];
  return [EXIT.notPaid, "not paid", why, ...fateOf(error)];
}

function interruption({ paymentId, signed }: AttestError): string[] {
  if (paymentId !== undefined) return [`A payment is signed. ${AGAIN}`];
  return signed === undefined ? [UNPAID] : [];
}

/** What can become of the payment: none was signed, it can still be taken, or it no longer can. */
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
      return text(`To sign another then, remove this one: ${paymentId && vault.path(paymentId)}`);
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
