import type { Observe } from "../http/listener.ts";
import { count, countFromZero } from "../metrics/meter.ts";

const OTHER = "other";

/**
 * Counts answers.
 *
 * @param paths of the endpoints, in which `:name` is a parameter; anything else is counted as `other`
 */
export function answerCounter(paths: readonly string[]): Observe {
  const exact = new Set(paths);
  const patterns = paths
    .filter((path) => path.includes(":"))
    .map((path) => ({ path, begin: path.split(":", 1)[0] ?? "" }));
  for (const endpoint of [...paths, OTHER]) countFromZero("answers", { endpoint, status: "500", payment: "none" });
  return ({ url = "", headers }, { status }) => {
    const asked = url.split("?", 1)[0] ?? "";
    const endpoint = exact.has(asked) ? asked : patterns.find(({ begin }) => asked.startsWith(begin))?.path;
    const payment = headers["payment-signature"] === undefined ? "none" : "sent";
    count("answers", { endpoint: endpoint ?? OTHER, status: String(status), payment });
  };
}
