import type { Logger } from "pino";
import { count } from "../metrics/meter.ts";

/** Failures that go on are logged once in this time, in ms. */
const LOG_EVERY_MS = 60_000;

/**
 * Counts and logs what the packer of a journal fails in: otherwise a backlog shows only as a journal that grows three times
 * as fast.
 *
 * @returns takes the message of one failure
 */
export function createPackingFailures(log?: Pick<Logger, "warn">): (reason: string) => void {
  let loggedAt = Number.NEGATIVE_INFINITY;
  return (reason) => {
    count("packingFailures", { step: "pack" });
    if (performance.now() - loggedAt < LOG_EVERY_MS) return;
    loggedAt = performance.now();
    log?.warn({ reason }, "calls at rest cannot be packed");
  };
}
