import type { IncomingMessage } from "node:http";
import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import { Problem } from "../problems.ts";
import { clientName } from "./client-name.ts";

export type RateLimitOptions = {
  /** Requests that one client may make in a minute, on this process. */
  perMinute: number;
  /** Whether a proxy of ours stands in front and names the client in X-Forwarded-For. */
  trustProxy: boolean;
};

/**
 * Counts a request.
 *
 * @throws Problem `too_many_requests` once the client has had its minute's share
 */
export type RateLimit = (incoming: IncomingMessage) => Promise<void>;

export function createRateLimit({ perMinute, trustProxy }: RateLimitOptions): RateLimit {
  const limiter = new RateLimiterMemory({ points: perMinute, duration: 60 });
  return async (incoming) => {
    try {
      await limiter.consume(clientOf(incoming, trustProxy));
    } catch (error) {
      if (!(error instanceof RateLimiterRes)) throw error;
      const retryAfter = Math.max(1, Math.ceil(error.msBeforeNext / 1000));
      throw new Problem("too_many_requests", `A client may make ${perMinute} requests a minute.`, { retryAfter });
    }
  };
}

/** By `clientName`. The last address is the one that our own proxy saw; those before it are the client's word. */
function clientOf({ headers, socket }: IncomingMessage, trustProxy: boolean): string {
  const forwarded = trustProxy ? [headers["x-forwarded-for"]].flat().join(",").split(",").at(-1)?.trim() : "";
  return clientName(forwarded || (socket.remoteAddress ?? "unknown"));
}
