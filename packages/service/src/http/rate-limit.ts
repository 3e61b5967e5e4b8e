import type { IncomingMessage } from "node:http";
import { LRUCache } from "lru-cache";
import { SAME_HEADER } from "../calls/problems.ts";
import { Problem } from "../problems.ts";
import { clientOf } from "./client-name.ts";

/** What requests are counted as; each client has a count of each. */
export type LimitClass = "paid" | "verify" | "agents" | "documents";

/** Headers of the answer, and why the request is not served, if it is above the limit. */
export type Limited = { headers: Readonly<Record<string, string>>; refusal?: Problem };

/** Counts a request. @param path of its route; undefined where there is none @returns undefined where it is not limited */
export type RateLimit = (incoming: IncomingMessage, path: string | undefined) => Limited | undefined;

export type RateLimitOptions = {
  /** Requests of one client to this process in a minute, by class; a class without a number is not limited. */
  perMinute: Readonly<Record<LimitClass, number | undefined>>;
  /** undefined for a path that is never limited. */
  classOf(path: string | undefined): LimitClass | undefined;
  /** Whether a proxy of the operator names the client in X-Forwarded-For. */
  trustProxy: boolean;
  /** Monotonic, in ms. */
  now?: () => number;
};

/** Seconds. */
const WINDOW = 60;
/**
 * Counts that are kept, some 200 bytes each. A flood from more clients than that has the oldest ones counted anew, which gives
 * none of them more than a flood from so many clients has anyway.
 */
export const MAX_COUNTS = 100_000;

/** Fixed windows, which begin with a client's first request. Headers: draft-ietf-httpapi-ratelimit-headers-11. */
export function createRateLimit({
  perMinute,
  classOf,
  trustProxy,
  now = () => performance.now(),
}: RateLimitOptions): RateLimit {
  const counts = new LRUCache<string, { used: number; ends: number }>({ max: MAX_COUNTS });
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
    // Whatever became of the payment before: it was not looked at.
    const members = incoming.headers["payment-signature"] === undefined ? {} : SAME_HEADER;
    const detail = `A client may make ${quota} such requests a minute ("${limitClass}").`;
    return { headers, refusal: new Problem("too_many_requests", detail, { retryAfter: seconds, members }) };
  };
}
