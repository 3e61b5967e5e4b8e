import { hasCode, ServiceError } from "@attestd/service/errors";
import { EXIT, type ExitCode, Failure } from "./failure.ts";

/** How the journal's error ends when a service has it (service, journal/sqlite/worker.ts). */
const JOURNAL_IN_USE = "another process has this journal open";

const SETTINGS = "Settings come from the environment, and from a file: --env FILE.";

/**
 * Turns an error of an operator's command into a message: what happened, why, and what to do next.
 *
 * @param what was not done
 */
export function operatorFailure(
  error: unknown,
  what: string,
  stop: AbortSignal,
  interrupted = "Nothing was written.",
): Failure {
  if (error instanceof Failure) return error;
  const { name, message } = error as Error;
  const fail = (exitCode: ExitCode, ...more: string[]) => new Failure(exitCode, what, [message, ...more], error);
  if (stop.aborted) return new Failure(EXIT.interrupted, "interrupted", [interrupted], error);
  if (hasCode(error, "request_unfit")) {
    const { member } = error.details;
    return new Failure(EXIT.usage, `--${member === "txId" ? "txid" : member} ${message}`, [], error);
  }
  // A problem is known by its name, so that this file loads no chain library.
  switch (error instanceof ServiceError ? error.code : name) {
    case "config_invalid":
      return new Failure(EXIT.usage, message, [SETTINGS], error);
    case "argument_invalid":
    case "not_allowed":
      return fail(EXIT.usage);
    case "not_on_chain":
      return fail(EXIT.notPaid);
    case "calls_unfinished":
      return fail(EXIT.paidUnfinished, "Start the service until they are, then try again.");
    case "journal_in_use":
      return fail(EXIT.usage, "Stop every service first.");
    case "attestor_unfunded":
      return fail(EXIT.notPaid, "Fund the attestor's account, then run the same command again.");
    case "providers_unavailable":
    case "providers_conflict":
      return fail(EXIT.unreachable, "Run it again when its nodes answer.");
    case "source_not_found":
    case "block_not_found":
    case "source_inner_transaction":
    case "source_wrong_chain":
    case "source_unreadable":
    case "Problem":
      return fail(EXIT.unreachable);
    case "call_stale":
      return fail(EXIT.unreadable, "A service has moved it meanwhile: run the command again.");
    default:
      return fail(EXIT.unreadable, ...(message.endsWith(JOURNAL_IN_USE) ? ["Stop that service first."] : []));
  }
}
