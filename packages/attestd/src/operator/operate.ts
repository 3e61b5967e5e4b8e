import { hasCode, ServiceError, type ServiceErrorCode } from "@attestd/service/errors";
import type { OperatorOptions } from "@attestd/service/operator";
import type { Settings } from "@attestd/service/settings";
import { EXIT, type ExitCode, Failure } from "../failure.ts";
import type { SettingsOptions } from "../options.ts";
import type { Environment } from "../terminal/environment.ts";
import { readSettings, settingsFailure } from "./settings.ts";

type Operations = typeof import("@attestd/service/operator");

/** What a command prints: `doing` while it runs; `undone` if it fails; `interrupted`, what to do after an interruption. */
type Texts = { doing: string; undone: string; interrupted?: string };

/** The exit code of a command and what to do next, by the code of its error. */
const OUTCOMES: Partial<Record<ServiceErrorCode, [exitCode: ExitCode, ...remedy: string[]]>> = {
  argument_invalid: [EXIT.usage],
  not_allowed: [EXIT.usage],
  not_on_chain: [EXIT.notPaid],
  calls_unfinished: [EXIT.paidUnfinished, "Start the service until they are, then try again."],
  journal_in_use: [EXIT.usage, "Stop every service first."],
  attestor_unfunded: [EXIT.notPaid, "Fund the attestor's account, then run the same command again."],
  signer_failed: [EXIT.unreachable, "Look at the signer and its log, then run the same command again."],
  providers_unavailable: [EXIT.unreachable, "Run it again when its nodes answer."],
  providers_conflict: [EXIT.unreachable, "Run it again when its nodes answer."],
  source_not_found: [EXIT.unreachable],
  block_not_found: [EXIT.unreachable],
  source_inner_transaction: [EXIT.unreachable],
  source_wrong_chain: [EXIT.unreachable],
  source_unreadable: [EXIT.unreachable],
  source_not_kept: [EXIT.unreachable],
  source_unprovable: [EXIT.unreachable],
  call_stale: [EXIT.unreadable, "A service has changed it meanwhile: run the command again."],
};

/** How the journal's error ends when a service has the journal open (service, journal/sqlite/worker.ts). */
const JOURNAL_IN_USE = "another process has this journal open";

/**
 * Runs an operator's command on the journal and the networks of the service's settings.
 *
 * @param command gets the operations of the service, which are loaded only now, the settings, and the options of every operation
 * @throws Failure for every error of the command
 */
export async function operate<T>(
  options: SettingsOptions,
  environment: Environment,
  texts: Texts,
  command: (operations: Operations, settings: Settings, operator: OperatorOptions) => Promise<T>,
): Promise<T> {
  const signal = environment.stop();
  const settings = readSettings(options, environment);
  using _working = environment.working(texts.doing);
  try {
    const operations = await import("@attestd/service/operator");
    return await command(operations, settings, { sandbox: options.sandbox ?? false, signal });
  } catch (error) {
    if (!signal.aborted || error instanceof Failure) throw failureOf(error, texts.undone);
    throw new Failure(EXIT.interrupted, "interrupted", [texts.interrupted ?? "Nothing was written."], error);
  }
}

function failureOf(error: unknown, undone: string): Failure {
  if (error instanceof Failure) return error;
  const { name, message } = error as Error;
  if (hasCode(error, "config_invalid")) return settingsFailure(error.details.faults, error);
  if (hasCode(error, "request_unfit")) {
    const { member } = error.details;
    return new Failure(EXIT.usage, `--${member === "txId" ? "txid" : member} ${message}`, [], error);
  }
  // A problem is recognized by its name, so that its module need not be loaded for the command's own errors.
  if (name === "Problem") return new Failure(EXIT.unreachable, undone, [message], error);
  const remedies = message.endsWith(JOURNAL_IN_USE) ? ["Stop that service first."] : [];
  const code: ServiceErrorCode | undefined = error instanceof ServiceError ? error.code : undefined;
  const [exitCode, ...remedy] = (code && OUTCOMES[code]) ?? [EXIT.unreadable, ...remedies];
  return new Failure(exitCode, undone, [message, ...remedy], error);
}
