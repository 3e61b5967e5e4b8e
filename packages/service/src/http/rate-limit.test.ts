import type { IncomingMessage } from "node:http";
import { describe, expect, test } from "vitest";
import { createRateLimit } from "./rate-limit.ts";

const request = (remoteAddress: string, forwarded?: string) =>
  ({ headers: { "x-forwarded-for": forwarded }, socket: { remoteAddress } }) as unknown as IncomingMessage;

describe("the rate limit", () => {
  test("limits each client and returns when to retry", async () => {
    const limit = createRateLimit({ perMinute: 2, trustProxy: false });
    await limit(request("10.0.0.1"));
    await limit(request("10.0.0.1", "1.2.3.4"));
    const refused = limit(request("10.0.0.1", "5.6.7.8"));
    await expect(refused).rejects.toMatchObject({ code: "too_many_requests", status: 429 });
    await expect(refused).rejects.toSatisfy(({ retryAfter }) => retryAfter >= 1 && retryAfter <= 60);
    await limit(request("10.0.0.2"));
  });

  test.each([
    ["2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff"],
    ["2001:db8:1:2:3:4:5:6", "2001:0DB8:1:2::6%eth0"],
    ["::ffff:10.0.0.1", "10.0.0.1"],
    ["::ffff:a00:1", "10.0.0.1"],
    ["fe80::1%eth0", "fe80::2"],
    ["64:ff9b::1.2.3.4", "64:ff9b::"],
  ])("counts %s and %s as one client", async (first, second) => {
    const limit = createRateLimit({ perMinute: 1, trustProxy: false });
    await limit(request(first));
    await expect(limit(request(second))).rejects.toMatchObject({ status: 429 });
  });

  test("counts other networks and each IPv4 address separately", async () => {
    const limit = createRateLimit({ perMinute: 1, trustProxy: false });
    for (const address of ["2001:db8:1:2::1", "2001:db8:1:3::1", "::1", "10.0.0.1", "::ffff:10.0.0.2", "1::ffff:0:1"])
      await limit(request(address));
  });

  test.each([
    ["[2001:db8:1:2::1]:443", "2001:db8:1:2::2"],
    ["1.2.3.4:5678", "1.2.3.4"],
    ["::ffff:1.2.3.4", "6.6.6.6, 1.2.3.4:80"],
  ])("behind a proxy that names the client %s, and then %s, counts one", async (first, second) => {
    const limit = createRateLimit({ perMinute: 1, trustProxy: true });
    await limit(request("127.0.0.1", first));
    await expect(limit(request("127.0.0.1", second))).rejects.toMatchObject({ status: 429 });
  });

  test("behind a proxy uses the address that the proxy appended, not the client's", async () => {
    const limit = createRateLimit({ perMinute: 1, trustProxy: true });
    await limit(request("127.0.0.1", "6.6.6.6, 1.2.3.4"));
    await expect(limit(request("127.0.0.1", "7.7.7.7, 1.2.3.4"))).rejects.toMatchObject({ status: 429 });
    await limit(request("127.0.0.1", "1.2.3.4, 5.6.7.8"));
  });
});
