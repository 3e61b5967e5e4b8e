import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import pino, { type Logger } from "pino";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { increaseOf } from "../../../../test/helpers/samples.ts";
import { type Handler, json, Upstream } from "../../test/fakes/providers.ts";
import { startMetrics } from "../observe/metrics/meter.ts";
import { DecidedByChain, type Facilitator, httpFacilitator } from "./facilitator.ts";
import { type WatchedFacilitator, watchFacilitator } from "./facilitator-watch.ts";

let upstream: Upstream;
beforeAll(async () => {
  upstream = await Upstream.start((_, response) => response.end());
});
afterAll(() => upstream.close());

const PAYMENT = { x402Version: 2 } as PaymentPayload;
const REQUIREMENT = { network: "eip155:8453" } as unknown as PaymentRequirements;
const soon = () => AbortSignal.timeout(5_000);

/** Lines of the log: level, operation, text. */
let lines: string[];
let monotonic: number;
let unixMs: number;
beforeEach(() => {
  unixMs = 1_000;
  lines = [];
  monotonic = 0;
});

function watched({ url = upstream.url, ...over } = {}, maxUnderWay?: number): WatchedFacilitator {
  const level = (name: string) => (fields: { operation: string; failures?: number }, text: string) =>
    void lines.push([name, fields.operation, text, ...(fields.failures ? [fields.failures] : [])].join(" "));
  const log = { info: level("info"), warn: level("warn"), error: level("error") } as unknown as Logger;
  const facilitator = httpFacilitator({ url, auth: { kind: "none" }, ...over });
  return watchFacilitator({
    facilitator,
    rail: "base",
    host: "f",
    log,
    now: () => unixMs,
    monotonic: () => monotonic,
    ...(maxUnderWay && { maxUnderWay }),
  });
}

const verify = (facilitator: WatchedFacilitator) =>
  facilitator.verify(PAYMENT, REQUIREMENT, soon()).catch((error: Error) => error);
const settle = (facilitator: WatchedFacilitator) =>
  facilitator.settle(PAYMENT, REQUIREMENT, soon()).catch((error: Error) => error);
const supported = (facilitator: WatchedFacilitator) => facilitator.supported(soon()).catch((error: Error) => error);
const times = async (count: number, ask: () => Promise<unknown>) => {
  for (let i = 0; i < count; i++) await ask();
};
const answering =
  (status: number, body: object = {}): Handler =>
  (_, response) =>
    json(response, body, status);

describe("a facilitator that fails", () => {
  test("is logged with its cause when it begins to and when it ends, and not in between", async () => {
    const facilitator = watched();
    upstream.handler = answering(500, { error: "Internal Server Error" });
    await times(7, () => verify(facilitator));
    upstream.handler = answering(200, { isValid: false });
    await times(3, () => verify(facilitator));
    expect(lines).toEqual(["warn verify the facilitator fails", "info verify the facilitator answers again 7"]);
  });

  test.each([401, 402, 404, 405, 502, 503, 504, 302])(
    "to verify with %i is sold by no more until a rest is over",
    async (status) => {
      const facilitator = watched();
      upstream.handler = answering(status);
      await times(5, () => verify(facilitator));
      expect(facilitator.unavailableReason()).toContain(
        `the facilitator answers HTTP ${status} to verify, 5 times in a row since 1970-01-01T00:00:01.000Z`,
      );
      monotonic += 1_000;
      expect(facilitator.unavailableReason()).toBeUndefined();
      upstream.handler = answering(200, { isValid: true });
      expect(await verify(facilitator)).toEqual({ valid: true });
      expect(facilitator.unavailableReason()).toBeUndefined();
    },
  );

  test.each([401, 402, 403, 404])(
    "to settle with %i closes its rail, and settlements are still sent",
    async (status) => {
      const facilitator = watched();
      upstream.handler = answering(status);
      await times(3, () => settle(facilitator));
      expect(facilitator.unavailableReason()).toContain(`HTTP ${status} to settle`);
      await times(9, () => settle(facilitator));
      upstream.handler = answering(200, { success: true });
      expect(await settle(facilitator)).toEqual({ success: true });
      expect(facilitator.unavailableReason()).toBeUndefined();
    },
  );

  test.each<[string, Handler]>([
    ["400", answering(400)],
    ["429", answering(429)],
    ["500", answering(500)],
    ["no JSON", (_, response) => response.end("<html>")],
  ])("payments with %s does not close its rail, because payers may cause that: it is degraded", async (_, handler) => {
    const facilitator = watched();
    upstream.handler = handler;
    await times(4, () => verify(facilitator));
    expect(facilitator.degradedReason()).toBeUndefined();
    await times(40, () => verify(facilitator));
    expect(facilitator.unavailableReason()).toBeUndefined();
    expect(facilitator.degradedReason()).toMatch(/to verify, 44 times in a row/);
    expect(lines).toEqual(["warn verify the facilitator fails"]);
  });

  test("payments with 403 does not close its rail, because payers may cause that", async () => {
    const facilitator = watched();
    upstream.handler = answering(403);
    await times(40, () => verify(facilitator));
    expect(facilitator.unavailableReason()).toBeUndefined();
  });

  test("to list what it settles closes its rail after two failures, until it lists again", async () => {
    const facilitator = watched();
    upstream.handler = answering(500);
    await supported(facilitator);
    expect(facilitator.unavailableReason()).toBeUndefined();
    await supported(facilitator);
    expect(facilitator.unavailableReason()).toContain("HTTP 500 to supported, 2 times");
    upstream.handler = answering(200, { kinds: [] });
    await supported(facilitator);
    expect(facilitator.unavailableReason()).toBeUndefined();
  });

  test("because it cannot be reached closes its rail", async () => {
    const closed = await Upstream.start(() => undefined);
    await closed.close();
    const facilitator = watched({ url: closed.url });
    await times(5, () => verify(facilitator));
    expect(facilitator.unavailableReason()).toContain("gives no answer to verify");
    expect(await verify(facilitator)).toMatchObject({
      name: "ServiceError",
      code: "facilitator_failed",
      message: expect.stringContaining("nothing is sent"),
      cause: { code: "facilitator_failed", details: { ending: "unreachable" } },
    });
  });

  test("by hanging closes its rail before it takes the places of the other rails", async () => {
    const facilitator = watched({}, 2);
    upstream.handler = () => undefined;
    const enough = new AbortController();
    const hanging = [1, 2].map(() => facilitator.settle(PAYMENT, REQUIREMENT, enough.signal).catch(() => undefined));
    expect(facilitator.unavailableReason()).toBe("the facilitator is late with 2 payments");
    enough.abort();
    await Promise.all(hanging);
    expect(facilitator.unavailableReason()).toBeUndefined();
  });
});

describe("a facilitator that refuses us", () => {
  test("is an alarm from the first time on: one line for each change, and a degraded rail with what to do", async () => {
    const facilitator = watched();
    upstream.handler = answering(500);
    await times(2, () => settle(facilitator));
    upstream.handler = answering(401);
    await times(3, () => settle(facilitator));
    expect(facilitator.degradedReason()).toContain("HTTP 401 to settle");
    expect(facilitator.degradedReason()).toContain("check its …_KIND, …_KEY_ID and …_SECRET");
    upstream.handler = answering(403, { error: "free_tier_exhausted" });
    await times(2, () => settle(facilitator));
    expect(facilitator.degradedReason()).toContain("its free tier may be used up");
    upstream.handler = answering(200, { success: true });
    await settle(facilitator);
    expect(facilitator.degradedReason()).toBeUndefined();
    expect(lines).toEqual([
      "warn settle the facilitator fails",
      "error settle the facilitator refuses us",
      "error settle the facilitator refuses us",
      "info settle the facilitator answers again 7",
    ]);
  });

  test("to list what it settles closes its rail at once", async () => {
    const facilitator = watched();
    upstream.handler = answering(401);
    await supported(facilitator);
    expect(facilitator.unavailableReason()).toContain("HTTP 401 to supported");
  });
});

describe("another facilitator is preferred", () => {
  const afterwards = async (handler: Handler) => {
    upstream.handler = handler;
    await verify(facilitator);
    const busy = [];
    for (const at of [0, 6_999, 7_001, 29_999, 30_001, 60_001]) {
      unixMs = 1_000 + at;
      busy.push(facilitator.isBusy());
    }
    unixMs = 1_000;
    return busy;
  };
  let facilitator: WatchedFacilitator;
  beforeEach(() => {
    facilitator = watched();
  });
  const retryAfter =
    (text: string): Handler =>
    (_, response) =>
      response.writeHead(429, { "retry-after": text }).end();

  test("for as long as one asks for with 429, in seconds or until a date, and for a minute at most", async () => {
    expect(await afterwards(retryAfter("7"))).toEqual([true, true, false, false, false, false]);
    // Sends the correct time, because this process compares its clock with the date of every answer.
    const date: Handler = (_, response) => {
      const now = Date.now();
      response.setHeader("date", new Date(now).toUTCString());
      response.writeHead(429, { "retry-after": new Date(now + 7_000).toUTCString() }).end();
    };
    expect(await afterwards(date)).toEqual([true, true, false, false, false, false]);
    expect(await afterwards(retryAfter("86400"))).toEqual([true, true, true, true, true, false]);
  });

  test("for half a minute after one gave no verdict, and no longer than until it gives one", async () => {
    expect(await afterwards(answering(500))).toEqual([true, true, true, true, false, false]);
    expect(await afterwards(retryAfter("soon"))).toEqual([true, true, true, true, false, false]);
    expect(await afterwards(answering(200, { isValid: false }))).toEqual(Array(6).fill(false));
  });
});

describe("a settlement still leaves", () => {
  const five = (ask: () => Promise<unknown>) =>
    Promise.all(Array.from({ length: 5 }, () => ask().catch(() => undefined)));
  const settled: Handler = (_, response) => response.end('{"success":true,"transaction":"X","network":"N"}');

  test.each<[string, Handler]>([
    ["400", (_, response) => response.writeHead(400).end("{}")],
    ["429", (_, response) => response.writeHead(429).end("{}")],
    ["500", (_, response) => response.writeHead(500).end("{}")],
    ["no JSON", (_, response) => response.end("<html>")],
    ["too much", (_, response) => response.end("x".repeat(2 * 1024 * 1024))],
  ])("after payments, verified or settled, that were answered with %s", async (_, handler) => {
    const facilitator = watched();
    upstream.handler = handler;
    await five(() => facilitator.verify(PAYMENT, REQUIREMENT, soon()));
    await five(() => facilitator.settle(PAYMENT, REQUIREMENT, soon()));
    upstream.handler = settled;
    expect(await facilitator.settle(PAYMENT, REQUIREMENT, soon())).toMatchObject({ success: true });
  });

  test("after settlements that ran out of time", async () => {
    const facilitator = watched();
    upstream.handler = () => undefined;
    await five(() => facilitator.settle(PAYMENT, REQUIREMENT, AbortSignal.timeout(20)));
    upstream.handler = settled;
    expect(await facilitator.settle(PAYMENT, REQUIREMENT, soon())).toMatchObject({ success: true });
  });

  test("while nothing is sent to verify, because it could not be reached", async () => {
    const facilitator = watched();
    upstream.handler = ({ url }, response) =>
      url === "/settle" ? response.end('{"success":true}') : response.writeHead(503).end();
    await five(() => facilitator.verify(PAYMENT, REQUIREMENT, soon()));
    await expect(facilitator.verify(PAYMENT, REQUIREMENT, soon())).rejects.toThrow("nothing is sent");
    expect(await facilitator.settle(PAYMENT, REQUIREMENT, soon())).toMatchObject({ success: true });
  });
});

/** Never answers a settlement, and ends with its signal. */
const silent = {
  settle: (_payment, _requirement, signal) =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
} as Pick<Facilitator, "settle"> as Facilitator;

test.each([
  ["not_awaited", new DecidedByChain()],
  ["failed", new Error("the facilitator is silent")],
  ["failed", new DOMException("too late", "TimeoutError")],
])("a settlement without an answer is counted as %s when it is given up by %s", async (expected, reason) => {
  const metrics = await startMetrics();
  const before = await metrics.text();
  const end = new AbortController();
  const log = pino({ level: "silent" });
  const watch = watchFacilitator({ facilitator: silent, rail: "base", host: "f", log, now: Date.now });
  const settling = watch.settle({} as never, {} as never, end.signal);
  end.abort(reason);
  await expect(settling).rejects.toBe(reason);
  const after = await metrics.text();
  const grown = ["success", "not_awaited", "failed"].filter((outcome) =>
    increaseOf([before, after], "attestd_settlements_total", { rail: "base", facilitator: "f", outcome }),
  );
  expect(grown).toEqual([expected]);
});
