import { setTimeout as pause } from "node:timers/promises";
import type { RunningService } from "@attestd/service";
import { hasCode } from "@attestd/service/errors";
import type { SubjectFinding } from "@attestd/service/operator";
import { EXIT, Failure } from "../../failure.ts";
import { type Settings, settingsFailure } from "../../operator/settings.ts";

export type StartupOptions = {
  settings: Settings;
  sandbox: boolean;
  /** How long to wait for upstreams that do not answer, in ms. */
  waitMs: number;
  /** Called once for each upstream that does not answer, with a sentence. */
  onAway(sentence: string): void;
  signal: AbortSignal;
};

/** After this time of a start, in ms, the upstreams that it may be waiting for are named. */
const QUIET_MS = 4_000;
const RETRY_MS = 2_000;

/**
 * Starts the service, and tries again while upstreams do not answer, for as long as the options say. The checks of
 * `attestd doctor` find what keeps it from starting, so that all faults are named at once.
 *
 * An init system restarts a service that ends as `unreachable`, but not one that ends as `usage`. So while an upstream does not
 * answer, other faults do not end the start: they may not be its cause.
 *
 * @throws Failure `usage` with everything that is wrong; `unreachable` when upstreams still do not answer; EADDRINUSE
 */
export async function startPatiently(
  start: () => Promise<RunningService>,
  options: StartupOptions,
): Promise<RunningService> {
  const { waitMs, signal } = options;
  const ends = performance.now() + waitMs;
  const named = new Set<string>();
  const nameAway = (faults: readonly SubjectFinding[]) => {
    for (const { message } of faults.filter(({ isAway }) => isAway)) {
      if (!named.has(message)) options.onAway(message);
      named.add(message);
    }
  };
  for (;;) {
    const slow = setTimeout(() => void faultsOf(options).then(nameAway), QUIET_MS);
    try {
      return await start();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EADDRINUSE" || signal.aborted) throw error;
      const faults = await faultsOf(options);
      const lasting = faults.filter(({ isAway }) => !isAway).map(({ message }) => message);
      const isInvalid = hasCode(error, "config_invalid");
      if (isInvalid) lasting.unshift(...missingFrom(lasting, error.details.faults));
      const mayPass = !isInvalid && faults.some(({ isAway }) => isAway);
      if (lasting.length > 0 && !mayPass) throw settingsFailure(lasting, error);
      if (performance.now() >= ends) {
        const reasons = faults.length > 0 ? faults.map(({ message }) => message) : [(error as Error).message];
        throw new Failure(EXIT.unreachable, "the service did not start", reasons, error);
      }
      if (faults.length > 0) nameAway(faults);
      else nameAway([{ subject: "start", mark: "fail", message: (error as Error).message, isAway: true }]);
    } finally {
      clearTimeout(slow);
    }
    await pause(RETRY_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** Finds what the service needs and does not have. If a check fails itself, there are no findings: the error of the start counts. */
async function faultsOf({ settings, sandbox, signal }: StartupOptions): Promise<SubjectFinding[]> {
  const { examine } = await import("@attestd/service/operator");
  try {
    const findings = await Array.fromAsync(examine(settings, { sandbox, signal, isStarting: true }));
    return findings.filter(({ mark }) => mark === "fail");
  } catch {
    return [];
  }
}

/** The faults that no check has named already, perhaps in a longer sentence. */
function missingFrom(sentences: readonly string[], faults: readonly string[]): string[] {
  return faults.filter((fault) => !sentences.some((sentence) => sentence.startsWith(fault.replace(/\.$/, ""))));
}
