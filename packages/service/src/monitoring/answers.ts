import type { Observe } from "../http/listener.ts";
import { count, countFromZero } from "../metrics/meter.ts";

const OTHER = "other";

/**
 * Counts answers.
 *
 * @param paths of the endpoints; anything else is counted as `other`
 */
export function answerCounter(paths: readonly string[]): Observe {
  const known = new Set(paths);
  for (const endpoint of [...paths, OTHER])
    for (const payment of ["none", "sent"]) countFromZero("answers", { endpoint, status: "500", payment });
  return ({ headers }, { status }, route = OTHER) => {
    const endpoint = known.has(route) ? route : OTHER;
    const payment = headers["payment-signature"] === undefined ? "none" : "sent";
    count("answers", { endpoint, status: String(status), payment });
  };
}
