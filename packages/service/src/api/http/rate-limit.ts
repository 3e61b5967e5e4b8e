import type { IncomingMessage } from "node:http";
import { LRUCache } from "lru-cache";
import { Problem, SAME_HEADER } from "../../lib/problems.ts";
import { clientOf } from "./client-name.ts";

/** The class of a request. Each client has one count per class. */
export type LimitClass = "paid" | "verify" | "agents" | "documents";

/** The answer's headers and, above the limit, why the request is refused. */
export type Limited = { headers: Readonly<Record<string, string>>; refusal?: Problem };

/**
 * Counts a request. @param path of its route; undefined if there is none @returns undefined if the path is not limited
 */
export type RateLimit = (incoming: IncomingMessage, path: string | undefined) => Limited | undefined;

export type RateLimitOptions = {
  /** Requests per client and minute to this process, by class; a class without a number is not limited. */
  perMinute: Readonly<Record<LimitClass, number | undefined>>;
  /** Returns undefined for a path that is never limited. */
  classOf(path: string | undefined): LimitClass | undefined;
  /** Whether the operator's proxy names the client in X-Forwarded-For. */
  trustProxy: boolean;
  /** Monotonic, in ms. */
  now?: () => number;
};

/** The window in seconds. */
const WINDOW = 60;
/**
 * The limit of counts, some 200 bytes each. In a flood from more clients the oldest counts start again, which gives
 * each client no more than such a flood gets anyway.
 */
export const MAX_COUNTS = 100_000;

/** Makes fixed windows that begin with a client's first request. Headers: draft-ietf-httpapi-ratelimit-headers-11. */
export function createRateLimit({
  perMinute,
  classOf,
  trustProxy,
  now = () => performance.now(),
}: RateLimitOptions): RateLimit {
  // By size: with `max`, room for all of them is taken at the start, in 7 ms.
  const counts = new LRUCache<string, { used: number; ends: number }>({
    maxSize: MAX_COUNTS,
    sizeCalculation: () => 1,
  });
  return (incoming, path) => {
    const limitClass = classOf(path);
    const quota = limitClass && perMinute[limitClass];
    if (limitClass === undefined || quota === undefined) return undefined;
    const name = `${limitClass} ${clientOf(incoming, trustProxy)}`;
    const at = now();
    let count = counts.get(name);
    if (!count || count.ends <= at) {
      count = { used: 0, ends: at + WINDOW * 1000 };
      counts.set(name, count);
    }
    count.used += 1;
    const seconds = Math.max(1, Math.ceil((count.ends - at) / 1000));
    const headers = {
      "ratelimit-policy": `"${limitClass}";q=${quota};w=${WINDOW}`,
      ratelimit: `"${limitClass}";r=${Math.max(0, quota - count.used)};t=${seconds}`,
    };
    if (count.used <= quota) return { headers };
    // The payment was not looked at, so an earlier attempt may have succeeded.
    const members = incoming.headers["payment-signature"] === undefined ? {} : SAME_HEADER;
    const detail = `A client may make ${quota} such requests a minute ("${limitClass}").`;
    return { headers, refusal: new Problem("too_many_requests", detail, { retryAfter: seconds, members }) };
  };
}
