import { EXIT, Failure } from "./failure.ts";

/** How the journal's error ends when a service has it (service, journal/sqlite/worker.ts). */
const JOURNAL_IN_USE = "another process has this journal open";

const SETTINGS = "Settings come from the environment, and from a file: --env FILE.";

/**
 * Turns an error of an operator's command into a message: what happened, why, and what to do next.
 *
 * Compares errors by name, so that no chain library is loaded.
 *
 * @param what was not done
 */
export function operatorFailure(error: unknown, what: string, stop: AbortSignal): Failure {
  if (error instanceof Failure) return error;
  const { name, message, code, member } = error as Error & { code?: string; member?: string };
  const fail = (exitCode: number, ...more: string[]) => new Failure(exitCode, what, [message, ...more], error);
  if (stop.aborted) return new Failure(EXIT.interrupted, "interrupted", ["Nothing was written."], error);
  switch (name) {
    case "ConfigError":
      return new Failure(EXIT.usage, message, [SETTINGS], error);
    case "UnfitRequest":
      return new Failure(EXIT.usage, `--${member === "txId" ? "txid" : member} ${message}`, [], error);
    case "Refused":
      return fail(code === "not_on_chain" ? EXIT.notPaid : EXIT.usage);
    case "KeyChangeRefused":
      return keyChangeRefused(error as Error & { code: string }, what);
    case "ProviderError":
      return fail(EXIT.unreachable, "Run it again when its nodes answer.");
    case "Problem":
    case "SourceError":
      return fail(EXIT.unreachable);
    case "StaleCall":
      return fail(EXIT.unreadable, "A service has moved it meanwhile: run the command again.");
    default:
      return fail(EXIT.unreadable, ...(message.endsWith(JOURNAL_IN_USE) ? ["Stop that service first."] : []));
  }
}

function keyChangeRefused(error: Error & { code: string }, what: string): Failure {
  const { code, message } = error;
  switch (code) {
    case "calls_unfinished":
      return new Failure(
        EXIT.paidUnfinished,
        what,
        [message, "Start the service until they are, then try again."],
        error,
      );
    case "journal_in_use":
      return new Failure(EXIT.usage, what, [message, "Stop every service first."], error);
    case "unfunded":
      return new Failure(
        EXIT.notPaid,
        what,
        [message, "Fund the attestor's account, then run the same command again."],
        error,
      );
    default:
      return new Failure(EXIT.usage, what, [message], error);
  }
}
