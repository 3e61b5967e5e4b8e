import type { IncomingMessage } from "node:http";
import { type Item, parseList } from "structured-headers";
import { describe, expect, test } from "vitest";
import { createRateLimit, MAX_COUNTS, type RateLimitOptions } from "./rate-limit.ts";

const request = (remoteAddress: string, forwarded?: string, payment?: string) =>
  ({
    headers: { "x-forwarded-for": forwarded, ...(payment && { "payment-signature": payment }) },
    socket: { remoteAddress },
  }) as unknown as IncomingMessage;

/** Makes one limit for everything but /health. */
function limitTo(perMinute: number, more: Partial<RateLimitOptions> = {}) {
  const limit = createRateLimit({
    perMinute: { paid: perMinute, verify: perMinute, agents: perMinute, documents: perMinute },
    classOf: (path) => (path === "/health" ? undefined : path === "/attest" ? "paid" : "documents"),
    trustProxy: false,
    ...more,
  });
  return (incoming: IncomingMessage, path = "/") => limit(incoming, path);
}
const isRefused = (limited: ReturnType<ReturnType<typeof limitTo>>) => limited?.refusal !== undefined;

describe("the rate limit", () => {
  test("limits each client and says when to retry", () => {
    const limit = limitTo(2);
    expect(isRefused(limit(request("10.0.0.1")))).toBe(false);
    expect(isRefused(limit(request("10.0.0.1", "1.2.3.4")))).toBe(false);
    const { refusal } = limit(request("10.0.0.1", "5.6.7.8")) ?? {};
    expect(refusal).toMatchObject({ code: "too_many_requests", status: 429, retryAfter: 60, members: {} });
    expect(isRefused(limit(request("10.0.0.2")))).toBe(false);
  });

  test("counts each class by itself, and a path without one not at all", () => {
    const limit = limitTo(1);
    expect(["/", "/attest", "/health", "/health"].map((path) => isRefused(limit(request("10.0.0.1"), path)))).toEqual([
      false,
      false,
      false,
      false,
    ]);
    expect(["/", "/attest"].map((path) => isRefused(limit(request("10.0.0.1"), path)))).toEqual([true, true]);
    expect(limit(request("10.0.0.1"), "/health")).toBeUndefined();
  });

  test("says that a refused payment may be sent again", () => {
    const limit = limitTo(1);
    limit(request("10.0.0.1"), "/attest");
    const { refusal } = limit(request("10.0.0.1", undefined, "e30="), "/attest") ?? {};
    expect(refusal?.members).toEqual({ retry: { sameHeader: true } });
  });

  test("states its policy and what is left as structured fields, and begins anew after a minute", () => {
    let at = 5_000;
    const limit = limitTo(2, { now: () => at });
    const stated = () => {
      const { headers } = limit(request("10.0.0.1")) ?? {};
      const [[policy, ofPolicy]] = parseList(headers?.["ratelimit-policy"] ?? "") as [Item];
      const [[name, ofLimit]] = parseList(headers?.ratelimit ?? "") as [Item];
      expect([policy, name]).toEqual(["documents", "documents"]);
      return [ofPolicy.get("q"), ofPolicy.get("w"), ofLimit.get("r"), ofLimit.get("t")];
    };
    expect(stated()).toEqual([2, 60, 1, 60]);
    at += 30_500;
    expect(stated()).toEqual([2, 60, 0, 30]);
    expect(stated()).toEqual([2, 60, 0, 30]);
    at += 29_500;
    expect(stated()).toEqual([2, 60, 1, 60]);
  });

  test("keeps a bounded number of counts, however many clients there are", () => {
    const limit = limitTo(1);
    const address = (n: number) => `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`;
    for (let n = 0; n <= MAX_COUNTS; n++) limit(request(address(n)));
    // The first client was forgotten, the last was not.
    expect(isRefused(limit(request(address(MAX_COUNTS))))).toBe(true);
    expect(isRefused(limit(request(address(0))))).toBe(false);
  });

  test.each([
    ["2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff"],
    ["2001:db8:1:2:3:4:5:6", "2001:0DB8:1:2::6%eth0"],
    ["::ffff:10.0.0.1", "10.0.0.1"],
    ["::ffff:a00:1", "10.0.0.1"],
    ["fe80::1%eth0", "fe80::2"],
    ["64:ff9b::1.2.3.4", "64:ff9b::"],
  ])("counts %s and %s as one client", (first, second) => {
    const limit = limitTo(1);
    limit(request(first));
    expect(isRefused(limit(request(second)))).toBe(true);
  });

  test("counts other networks and each IPv4 address separately", () => {
    const limit = limitTo(1);
    for (const address of ["2001:db8:1:2::1", "2001:db8:1:3::1", "::1", "10.0.0.1", "::ffff:10.0.0.2", "1::ffff:0:1"])
      expect(isRefused(limit(request(address))), address).toBe(false);
  });

  test.each([
    ["[2001:db8:1:2::1]:443", "2001:db8:1:2::2"],
    ["1.2.3.4:5678", "1.2.3.4"],
    ["::ffff:1.2.3.4", "6.6.6.6, 1.2.3.4:80"],
  ])("behind a proxy that names the client %s, and then %s, counts one", (first, second) => {
    const limit = limitTo(1, { trustProxy: true });
    limit(request("127.0.0.1", first));
    expect(isRefused(limit(request("127.0.0.1", second)))).toBe(true);
  });

  test("behind a proxy uses the address that the proxy appended, not the client's", () => {
    const limit = limitTo(1, { trustProxy: true });
    limit(request("127.0.0.1", "6.6.6.6, 1.2.3.4"));
    expect(isRefused(limit(request("127.0.0.1", "7.7.7.7, 1.2.3.4")))).toBe(true);
    expect(isRefused(limit(request("127.0.0.1", "1.2.3.4, 5.6.7.8")))).toBe(false);
  });
});
