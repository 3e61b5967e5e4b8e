import { type AttestError, formatUsdc, type Problem } from "@attestd/client";
import { EXIT, type ExitCode, Failure, fileTrouble } from "./failure.ts";

const AGAIN = "Run the same command again; you will not pay twice.";
const UNPAID = "Nothing was paid.";
const IS_IT_RUNNING = "Is the sandbox running? Start it with: attestd sandbox";

/**
 * The message of an error of a purchase: what happened, why, and what to do next.
 *
 * @param purchase.storedIn the file of the signed payment, if there is one
 * @param purchase.inSandbox whether the service is that of the sandbox in the current folder
 */
export function attestFailure(
  error: AttestError,
  { storedIn, inSandbox }: { storedIn: string | undefined; inSandbox: boolean },
): Failure {
  const fail = (exitCode: ExitCode, what: string, ...more: string[]) => new Failure(exitCode, what, more, error);
  const why = sentence(error);
  switch (error.code) {
    case "invalid_option":
      return fail(EXIT.usage, error.message.replace(/^maxPrice: /, "--max-price: "));
    case "unreachable":
      return fail(EXIT.unreachable, "the service can't be reached", why, UNPAID, ...(inSandbox ? [IS_IT_RUNNING] : []));
    case "unexpected_answer":
      return fail(EXIT.unreachable, "this is not an attestd service", why, UNPAID);
    case "no_usable_offer":
      return fail(EXIT.notPaid, "not paid", why, "Choose another wallet: --wallet FILE.");
    case "price_too_high":
      return fail(EXIT.notPaid, "not paid", why, `Allow it with --max-price ${formatUsdc(error.price ?? 0n)}.`);
    case "signing_failed":
      return fail(EXIT.notPaid, "not paid", why, "Nothing was sent.");
    case "vault_failed":
      return fail(EXIT.notPaid, "not paid: the signed payment can't be saved", why, "Nothing was sent.");
    case "not_paid":
      return fail(EXIT.notPaid, "not paid", `The service answered: ${why}`, "The same command signs a new payment.");
    case "refused":
      return refused(error.problem, why, storedIn, fail);
    case "paid_unfinished":
      return unfinished(error.problem, why, fail);
    case "save_failed":
      return fail(EXIT.paidUnfinished, "paid, but the bundle can't be saved", fileTrouble(error.cause), AGAIN);
    case "interrupted":
      return fail(EXIT.interrupted, "interrupted", storedIn ? `A payment is signed. ${AGAIN}` : UNPAID);
  }
}

type Fail = (exitCode: ExitCode, what: string, ...more: string[]) => Failure;

function refused(problem: Problem | undefined, why: string, storedIn: string | undefined, fail: Fail): Failure {
  const what = `not attested (${problem?.code ?? "refused"})`;
  switch (problem?.code) {
    case "payment_bound_to_other_request":
      return fail(EXIT.notPaid, what, why, `To sign a new payment, remove this one: ${storedIn}`);
    case "payment_refunded":
      return fail(EXIT.notPaid, what, why, "The same command signs a new payment.");
    case "source_not_final":
      return fail(EXIT.notPaid, what, why, UNPAID, "Run the same command again in a few minutes.");
    default:
      // Money may have moved only if the code begins with one of these.
      return fail(EXIT.notPaid, what, why, ...(/^(payment|http)_/.test(problem?.code ?? "http_") ? [] : [UNPAID]));
  }
}

function unfinished(problem: Problem | undefined, why: string, fail: Fail): Failure {
  switch (problem?.code) {
    case "settlement_pending":
      return fail(EXIT.paidUnfinished, "paid, not settled yet.", `Waiting for the payment (${problem.code}).`, AGAIN);
    case "attestation_pending":
      return fail(EXIT.paidUnfinished, "paid, not recorded yet.", `Waiting for Algorand (${problem.code}).`, AGAIN);
    case "payment_unaccounted":
      return fail(EXIT.paidUnfinished, `paid, not accounted for (${problem.code})`, why, `Tell the operator. ${AGAIN}`);
    default:
      return fail(EXIT.paidUnfinished, "payment sent, no bundle yet.", why, AGAIN);
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
