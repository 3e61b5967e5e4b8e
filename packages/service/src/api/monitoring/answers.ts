import type { Endpoint } from "../../catalogue/endpoint.ts";
import { count } from "../../observe/metrics/meter.ts";
import type { ObserveCall } from "../endpoints/transport.ts";
import type { Observe } from "../http/listener.ts";

const OTHER = "other";
type Transport = "http" | "mcp" | "a2a";

/**
 * Counts answers to HTTP requests.
 * @param paths of the endpoints; anything else counts as `other`
 */
export function answerCounter(paths: readonly string[]): Observe {
  const known = new Set(paths);
  fromZero("http", [...paths, OTHER]);
  return ({ headers }, { status }, route = OTHER) => {
    const endpoint = known.has(route) ? route : OTHER;
    const payment = headers["payment-signature"] === undefined ? "none" : "sent";
    count("answers", { transport: "http", endpoint, status: String(status), payment });
  };
}

/**
 * Counts answers to calls over an agents' protocol, which are inside the HTTP answers.
 * @param offered the endpoints that can be called over it
 */
export function callCounter(transport: Exclude<Transport, "http">, offered: readonly Endpoint[]): ObserveCall {
  fromZero(
    transport,
    offered.map(({ path }) => path),
  );
  return ({ path }, status, payment) =>
    count("answers", { transport, endpoint: path, status: String(status), payment });
}

/**
 * Makes counters visible at 0. Prometheus sees no increase in a counter that begins at 1, so a first failure would
 * raise no alert.
 */
function fromZero(transport: Transport, endpoints: readonly string[]): void {
  for (const endpoint of endpoints)
    for (const payment of ["none", "sent"]) count("answers", { transport, endpoint, status: "500", payment }, 0);
}
