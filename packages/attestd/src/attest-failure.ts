import { AttestError, formatUsdc, type Problem } from "@attestd/client";
import { EXIT, type ExitCode, Failure, fileTrouble } from "./failure.ts";

const AGAIN = "Run the same command again; you will not pay twice.";
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
  return new Failure(exitCode, what, more, error);
}

function textOf(error: AttestError, { vault, inSandbox }: Purchase): Text {
  const storedIn = error.paymentId && vault.path(error.paymentId);
  const why = sentence(error);
  switch (error.code) {
    case "invalid_option":
      return [EXIT.usage, error.message.replace(/^maxPrice: /, "--max-price: ")];
    case "unreachable":
      return [EXIT.unreachable, "the service can't be reached", why, UNPAID, ...(inSandbox ? [IS_IT_RUNNING] : [])];
    case "not_yet":
      return [EXIT.unreachable, "not yet", why];
    case "unexpected_answer":
      return [EXIT.unreachable, "this is not an attestd service", why, UNPAID];
    case "no_usable_offer":
      return [EXIT.notPaid, "not paid", why, "Choose another wallet: --wallet FILE."];
    case "price_too_high":
      return [EXIT.notPaid, "not paid", why, `Allow it with --max-price ${formatUsdc(error.price ?? 0n)}.`];
    case "signing_failed":
      return [EXIT.notPaid, "not paid", why, "Nothing was sent."];
    case "vault_failed":
      return [EXIT.notPaid, "not paid: the signed payment can't be saved", why, "Nothing was sent."];
    case "not_paid":
      return [EXIT.notPaid, "not paid", `The service answered: ${why}`, "The same command signs a new payment."];
    case "refused":
      return refused(error.problem, why, storedIn);
    case "paid_unfinished":
      return unfinished(error.problem, why);
    case "save_failed":
      return [EXIT.paidUnfinished, "paid, but the bundle can't be saved", fileTrouble(error.cause), AGAIN];
    case "interrupted":
      return [EXIT.interrupted, "interrupted", storedIn ? `A payment is signed. ${AGAIN}` : UNPAID];
  }
}

function refused(problem: Problem | undefined, why: string, storedIn: string | undefined): Text {
  const what = `not attested (${problem?.code ?? "refused"})`;
  switch (problem?.code) {
    case "payment_bound_to_other_request":
      return [EXIT.notPaid, what, why, `To sign a new payment, remove this one: ${storedIn}`];
    case "payment_refunded":
      return [EXIT.notPaid, what, why, "The same command signs a new payment."];
    case "source_not_final":
      return [EXIT.notPaid, what, why, UNPAID, "Run the same command again in a few minutes, or with --wait."];
    case "source_not_found":
    case "block_not_found":
      return [EXIT.notPaid, what, why, UNPAID, "If it is new, wait for it: --wait."];
    case "transaction_failed":
      return [EXIT.notPaid, what, why, UNPAID, "Without --require it is attested as one that failed."];
    default:
      // Money may have moved only if the code begins with one of these.
      return [EXIT.notPaid, what, why, ...(/^(payment|http)_/.test(problem?.code ?? "http_") ? [] : [UNPAID])];
  }
}

function unfinished(problem: Problem | undefined, why: string): Text {
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
