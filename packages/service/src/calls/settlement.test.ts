import type { Logger } from "pino";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { aCall, after, GOOD_COURSE } from "../../test/fakes/calls.ts";
import { TestClock } from "../../test/fakes/clock.ts";
import { type Handler, json, Upstream } from "../../test/fakes/providers.ts";
import { deadlineOf } from "../lib/clock.ts";
import { httpFacilitator } from "../payment/facilitator.ts";
import { watchFacilitator } from "../payment/facilitator-watch.ts";
import type { PaymentStatus, Rail } from "../payment/rails/rail.ts";
import type { Settler } from "../payment/routes.ts";
import type { Call } from "./call.ts";
import { type CallEvent, reduce } from "./machine.ts";
import { type Memory, newMemory } from "./perform.ts";
import { createSettlement } from "./settlement.ts";

/** How a facilitator answers to settle: status, body and headers, or not at all. */
type Answer = [status: number, body: object, headers?: Record<string, string>] | "none";

const STOP = new AbortController().signal;
const SUBJECT = { kind: "transaction", chain: "algorand", id: "SOURCE" } as const;

let upstream: Upstream;
/** By the first part of the path. */
let answers: Record<string, Answer>;
beforeAll(async () => {
  const handler: Handler = ({ url = "" }, response) => {
    const answer = answers[url.split("/")[1] ?? ""] ?? "none";
    if (answer === "none") return;
    const [status, body, headers = {}] = answer;
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    json(response, body, status);
  };
  upstream = await Upstream.start(handler);
});
afterAll(() => upstream.close());

let clock: TestClock;
let memory: Memory;
let status: PaymentStatus;
let lines: string[];
/** Transactions that the chain was asked to look in first. */
let hints: string[];
beforeEach(() => {
  hints = [];
  clock = new TestClock();
  memory = newMemory();
  status = { state: "open" };
  lines = [];
  answers = {};
});

const log = Object.fromEntries(
  ["info", "warn", "error"].map((level) => [level, (_: object, text: string) => lines.push(`${level} ${text}`)]),
) as unknown as Logger;

/** @param isForAny whether any facilitator may settle. @param names of those that the settings name */
function settlement(isForAny: boolean, names: readonly string[] = ["a", "b"]) {
  const rail = {
    name: "algorand",
    isForAnyFacilitator: isForAny,
    read: () => ({ payer: "PAYER", wire: {} }),
    status: async (_payment: unknown, _signal: unknown, hint?: string) => {
      if (hint !== undefined) hints.push(hint);
      return status;
    },
    // A chain that shows something every quarter of a second.
    news: () => clock.advance(250),
  } as unknown as Rail;
  const settlers = names.map((id): Settler => {
    const facilitator = httpFacilitator({ url: `${upstream.url}/${id}`, auth: { kind: "none" } }, () => clock.now());
    const names = { rail: rail.name, host: id };
    const watch = watchFacilitator({
      facilitator,
      ...names,
      log,
      now: () => clock.now(),
      monotonic: () => clock.now(),
    });
    return { ...watch, id, facilitator: watch };
  });
  return createSettlement({
    rails: new Map([["algorand", rail]]),
    settlers: new Map([["algorand", settlers]]),
    prepare: async () => undefined,
    resourceOf: () => ({ url: "https://attestd.example/attest", description: "An attestation." }),
    log,
    now: () => clock.now(),
    settleMs: 120_000,
  });
}

/** A call that was just committed, with its first settlement still to be sent to `a`. */
const BEGUN = aCall({ facilitator: "a", subject: SUBJECT });
const newlyBegun = (): Memory => ({ ...newMemory(), unsent: 1 });

/** Carries a call until a predicate holds; commits what happens. @returns the events, with the time of each in ms */
async function carry(effects: ReturnType<typeof settlement>, from: Call, isOver: (events: CallEvent[]) => boolean) {
  let call = from;
  const events: CallEvent[] = [];
  const times: number[] = [];
  const deadline = deadlineOf(clock, STOP);
  for (let i = 0; i < 2_000 && !isOver(events); i++) {
    const isUnsent = memory.unsent === call.settlements;
    const working = isUnsent ? effects.settle(call, memory, deadline) : effects.reconcile(call, memory, deadline);
    let isDone = false;
    void working.finally(() => {
      isDone = true;
    });
    // The clock stands still while a real answer is on its way, and goes on where none will come.
    const isSilent = memory.settling !== undefined || answers[call.facilitator ?? ""] === "none";
    while (isSilent && !isDone) {
      await new Promise((resolve) => setImmediate(resolve));
      await clock.advance(250);
    }
    const event = await working;
    if (!event) continue;
    call = reduce(call, event);
    events.push(event);
    times.push(clock.now());
  }
  return { call, events, times };
}

/** Returns whom the call asks second, and how many seconds after the first. */
async function second(isForAny: boolean, answer: Answer): Promise<[facilitator: unknown, seconds: number]> {
  answers = { a: answer, b: [200, { success: true, transaction: "X", network: "N" }] };
  memory = newlyBegun();
  const since = clock.now();
  const { events, times } = await carry(settlement(isForAny), BEGUN, ({ length }) => length === 1);
  const [event] = events;
  if (event?.type !== "settlement_begun") return expect.fail(`no other settlement but ${event?.type}`);
  return [event.facilitator, Math.round(((times[0] ?? Number.NaN) - since) / 1000)];
}

const verdict = (errorReason: string, transaction = "") => ({ success: false, errorReason, transaction, network: "N" });

/**
 * What a call does about each outcome, where its payment is bound to a facilitator, and where any may settle it: whom it asks
 * again, and after how many seconds. In none of them does it end, or ask for another payment, while the chain is silent.
 */
const OUTCOMES: [outcome: string, answer: Answer, bound: [string, number], any: [string, number]][] = [
  ["settled", [200, { success: true, transaction: "X", network: "N" }], ["a", 30], ["b", 30]],
  ["settled, with an empty transaction", [200, { success: true, transaction: "", network: "N" }], ["a", 30], ["b", 30]],
  ["pending (CDP)", [200, verdict("settlement_pending", "X")], ["a", 30], ["b", 30]],
  ["pending (PayAI on Solana)", [200, verdict("settlement_pending")], ["a", 30], ["b", 30]],
  ["asked for before (PayAI)", [409, verdict("duplicate_settlement")], ["a", 30], ["b", 30]],
  ["no answer for 120 s", "none", ["a", 121], ["b", 31]],
  ["an expired blockhash", [200, verdict("settle_exact_svm_block_height_exceeded")], ["a", 1], ["b", 1]],
  ["screened (CDP)", [200, verdict("kyt_risk_detected")], ["a", 1], ["b", 1]],
  ["refused under 400", [400, verdict("settle_exact_failed_onchain", "X")], ["a", 1], ["b", 1]],
  ["no verdict under 400 (CDP)", [400, { errorType: "invalid_request", errorMessage: "m" }], ["a", 1], ["b", 1]],
  ["a key that is refused", [401, { errorType: "unauthorized", errorMessage: "m" }], ["a", 1], ["b", 1]],
  ["a free tier that is used up", [403, { error: "free_tier_exhausted" }], ["a", 1], ["b", 1]],
  ["a free tier that is used up (PayAI)", [403, verdict("free_tier_exhausted")], ["a", 1], ["b", 1]],
  ["too many requests", [429, { error: "rate_limited" }], ["a", 1], ["b", 1]],
  ["too many for 20 s", [429, { error: "rate_limited" }, { "retry-after": "20" }], ["a", 20], ["b", 1]],
  ["too many for a day", [429, { error: "rate_limited" }, { "retry-after": "86400" }], ["a", 60], ["b", 1]],
  ["an internal error", [500, {}], ["a", 1], ["b", 1]],
  ["a gateway without its upstream", [503, {}, { "retry-after": "5" }], ["a", 5], ["b", 1]],
];

describe("a settlement that ends with", () => {
  test.each(OUTCOMES)("%s is asked for again", async (_, answer, bound, any) => {
    expect(await second(false, answer)).toEqual(bound);
    expect(await second(true, answer)).toEqual(any);
  });

  test.each(OUTCOMES)("%s is paid or void as the chain shows", async (_, answer) => {
    answers = { a: answer };
    const asked = () => carry(settlement(false), BEGUN, ({ length }) => length === 1);
    memory = newlyBegun();
    status = { state: "paid", transaction: "PAYMENT", height: 9, final: true };
    expect((await asked()).events[0]).toMatchObject({ type: "payment_proved", proof: { transaction: "PAYMENT" } });
    memory = newlyBegun();
    status = { state: "void", reason: "expired unspent" };
    const [event] = (await asked()).events;
    if (event?.type !== "payment_void") return expect.fail(`no void but ${event?.type}`);
    // What a facilitator says of itself or of us is not for the payer.
    expect(event.reason).not.toMatch(/127\.0\.0\.1|HTTP|unauthorized|rate_limited/);
  });

  test("a transaction has the chain looked at there first, also after another facilitator was asked", async () => {
    answers = { a: [200, verdict("settlement_pending", "X")], b: [500, {}] };
    memory = newlyBegun();
    await carry(settlement(true), BEGUN, ({ length }) => length === 2);
    expect(new Set(hints)).toEqual(new Set(["X"]));
  });
});

describe("a payment that any facilitator may settle", () => {
  test("goes round while nobody settles it, and is asked of one at a time", async () => {
    answers = { a: [500, {}], b: [403, {}] };
    memory = newlyBegun();
    const { events } = await carry(settlement(true), BEGUN, ({ length }) => length === 4);
    expect(events.map((event) => "facilitator" in event && event.facilitator)).toEqual(["b", "a", "b", "a"]);
  });

  test("is asked after a crash of the one that the row names", async () => {
    answers = { a: [500, {}], b: [200, { success: true, transaction: "X", network: "N" }] };
    memory = newlyBegun();
    const { call } = await carry(settlement(true), BEGUN, ({ length }) => length === 1);
    expect(call.facilitator).toBe("b");
    // Another process, which remembers nothing.
    memory = newMemory();
    const { events } = await carry(settlement(true), call, ({ length }) => length === 1);
    expect(events).toEqual([{ type: "settlement_begun", facilitator: "b" }]);
  });

  test("goes on with the others when the settings do not name its facilitator any more", async () => {
    const { events } = await carry(settlement(true, ["b"]), BEGUN, ({ length }) => length === 1);
    expect(events).toEqual([{ type: "settlement_begun", facilitator: "b" }]);
  });
});

describe("a payment that is bound to a facilitator that the settings do not name any more", () => {
  test("is sent to no other one, is logged once, and waits for its chain", async () => {
    answers = { b: [200, { success: true, transaction: "X", network: "N" }] };
    upstream.requests.length = 0;
    const effects = settlement(false, ["b"]);
    let looks = 0;
    memory = newlyBegun();
    const { call, events } = await carry(effects, BEGUN, () => ++looks > 20);
    expect(events).toEqual([]);
    expect([call.facilitator, memory.waiting, upstream.requests]).toEqual(["a", true, []]);
    expect(lines).toEqual(["warn the settings do not name the facilitator that the payment is bound to"]);
    status = { state: "void", reason: "expired unspent" };
    expect((await carry(effects, call, ({ length }) => length === 1)).events[0]?.type).toBe("payment_void");
  });
});

test("a delivered payment that vanished is settled again by its facilitator, or by another one that may", async () => {
  const done: Call = { ...after(BEGUN, ...GOOD_COURSE), proof: { transaction: "P", height: 9, final: false } };
  answers = { b: [200, { success: true, transaction: "X", network: "N" }] };
  for (const [isForAny, requests] of [
    [false, []],
    [true, ["POST /b/settle"]],
  ] as const) {
    upstream.requests.length = 0;
    memory = newMemory();
    const looking = settlement(isForAny, ["b"]).watch(done, memory, deadlineOf(clock, STOP));
    await clock.advance(15_000);
    await looking;
    expect(upstream.requests).toEqual(requests);
  }
});
