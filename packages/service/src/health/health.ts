import type { Logger } from "pino";
import { type Clock, endOf, within } from "../lib/clock.ts";
import { Problem } from "../lib/problems.ts";

/** After how many seconds a caller may repeat what was refused, by the problem with which it was. */
const RETRY_AFTER = {
  attestor_key_unusable: 60,
  signer_unavailable: 15,
  journal_unavailable: 15,
  clock_wrong: 60,
  disk_low: 60,
  providers_unavailable: 15,
} as const;

type RefusalCode = keyof typeof RETRY_AFTER;

/**
 * Whether one part of the service works. `degraded`: some calls may fail; the reason is a sentence without its period.
 * `unavailable`: no call may begin; the reason is a sentence. `facts`: only for the log, because they may name upstreams.
 */
export type Status =
  | { state: "ok" }
  | { state: "degraded"; reason: string }
  | { state: "unavailable"; code: RefusalCode; reason: string; facts?: object };

export const OK: Status = { state: "ok" };

/** The status of a part that is degraded while there is a reason. */
export const degradedIf = (reason: string | undefined): Status =>
  reason === undefined ? OK : { state: "degraded", reason };

/** The status of a part that is unavailable while there is a reason. */
export const unavailableIf = (code: RefusalCode, reason: string | undefined, facts: object = {}): Status =>
  reason === undefined ? OK : { state: "unavailable", code, reason, facts };

/** One row of the health table. */
export type Check = {
  /** The part, in the log. */
  name: string;
  /** How often it is read again, in ms. */
  everyMs?: number;
  /** Reads it again. @throws Error when it cannot be read; the last status then stands */
  refresh?(signal: AbortSignal): Promise<void>;
  /** As it was last read. A part without a status is only kept fresh. */
  status?(): Status;
};

/** Time-out of one refresh, in ms. */
const DEADLINE_MS = 20_000;

export type Health = ReturnType<typeof createHealth>;

/**
 * Keeps all parts of a service fresh, and says whether calls may begin. The log has a line for each change of a status
 * or its reason.
 *
 * @param checks where several refuse, the first one's problem is the caller's
 */
export function createHealth(
  checks: readonly Check[],
  { clock, log }: { clock: Pick<Clock, "sleep" | "after">; log: Pick<Logger, "error" | "warn" | "info"> },
) {
  const told = new Map<Check, string>();

  function statuses(): Status[] {
    return checks.map(({ status }) => status?.() ?? OK);
  }

  function logChanges(): void {
    for (const check of checks) {
      const now = check.status?.() ?? OK;
      const words = wordsOf(now);
      if (words === (told.get(check) ?? wordsOf(OK))) continue;
      told.set(check, words);
      if (now.state === "ok") log.info({ check: check.name }, "ok again");
      else if (now.state === "degraded") log.warn({ check: check.name, reason: now.reason }, "degraded");
      else log.error({ check: check.name, reason: now.reason, ...now.facts }, now.code);
    }
  }

  /** Each part by itself: one that hangs keeps no other from being read. It is not read again before it has ended. */
  async function keepFresh({ name, everyMs = 0, refresh }: Check, stop: AbortSignal): Promise<void> {
    let reading: Promise<void> | undefined;
    for (;;) {
      const isOver = await clock.sleep(everyMs, stop).then(
        () => false,
        () => true,
      );
      if (isOver) return;
      const read = async (ends: AbortSignal) => {
        reading ??= Promise.try(() => refresh?.(ends)).finally(() => {
          reading = undefined;
        });
        await Promise.race([reading, endOf(ends)]);
      };
      await within(clock, DEADLINE_MS, stop, read).catch((err: unknown) => {
        if (!stop.aborted) log.warn({ check: name, err }, "refresh failed");
      });
      if (!stop.aborted) logChanges();
    }
  }

  return {
    /** Why no call may begin, if so. */
    refusal(): Problem | undefined {
      const refusing = statuses().find((status) => status.state === "unavailable");
      return refusing && new Problem(refusing.code, refusing.reason, { retryAfter: RETRY_AFTER[refusing.code] });
    },

    /** The reasons of all parts in a state. */
    reasons: (state: "degraded" | "unavailable"): string[] =>
      statuses().flatMap((status) => (status.state === state ? [status.reason] : [])),

    /** Keeps the parts fresh until `stop`. */
    async run(stop: AbortSignal): Promise<void> {
      logChanges();
      await Promise.all(checks.map((check) => check.everyMs !== undefined && keepFresh(check, stop)));
    },
  };
}

/** A status without its figures, and without what it names in brackets: these change while it stays the same. */
function wordsOf(status: Status): string {
  return status.state === "ok" ? status.state : `${status.state} ${status.reason.replaceAll(/\(.*\)|[0-9]+/gs, "")}`;
}
