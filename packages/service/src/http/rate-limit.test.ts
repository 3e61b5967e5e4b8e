import type { IncomingMessage } from "node:http";
import { describe, expect, test } from "vitest";
import { createRateLimit } from "./rate-limit.ts";

const request = (remoteAddress: string, forwarded?: string) =>
  ({ headers: { "x-forwarded-for": forwarded }, socket: { remoteAddress } }) as unknown as IncomingMessage;

describe("the rate limit", () => {
  test("gives each client its share and says when there is more", async () => {
    const limit = createRateLimit({ perMinute: 2, trustProxy: false });
    await limit(request("10.0.0.1"));
    await limit(request("10.0.0.1", "1.2.3.4"));
    const refused = limit(request("10.0.0.1", "5.6.7.8"));
    await expect(refused).rejects.toMatchObject({ code: "too_many_requests", status: 429 });
    await expect(refused).rejects.toSatisfy(({ retryAfter }) => retryAfter >= 1 && retryAfter <= 60);
    await limit(request("10.0.0.2"));
  });

  test("behind a proxy believes the proxy's own word, not the client's", async () => {
    const limit = createRateLimit({ perMinute: 1, trustProxy: true });
    await limit(request("127.0.0.1", "6.6.6.6, 1.2.3.4"));
    await expect(limit(request("127.0.0.1", "7.7.7.7, 1.2.3.4"))).rejects.toMatchObject({ status: 429 });
    await limit(request("127.0.0.1", "1.2.3.4, 5.6.7.8"));
  });
});
