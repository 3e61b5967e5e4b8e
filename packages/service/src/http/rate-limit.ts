import type { IncomingMessage } from "node:http";
import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import { Problem } from "../problems.ts";
import { clientOf } from "./client-name.ts";

/** Counts a request. @throws Problem `too_many_requests` above the limit */
export type RateLimit = (incoming: IncomingMessage) => Promise<void>;

/**
 * @param perMinute requests of one client to this process in a minute
 * @param trustProxy whether a proxy of the operator names the client in X-Forwarded-For
 */
export function createRateLimit({ perMinute, trustProxy }: { perMinute: number; trustProxy: boolean }): RateLimit {
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
