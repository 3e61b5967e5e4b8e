import { pino } from "pino";
import { beforeEach, describe, expect, test } from "vitest";
import { TestClock } from "../../test/fakes/clock.ts";
import { readiness } from "../api/endpoints/readiness.ts";
import { createHealth, type Health, unavailableIf } from "../health/health.ts";
import { Problem } from "../lib/problems.ts";
import { type Capacity, createCapacity, ATTESTOR_RESERVE as RESERVE } from "./capacity.ts";

const FEE = 1_000n;

describe("capacity", () => {
  let spendable: bigint;
  let carried: number;
  /** Of what is carried, where it is another than the number. */
  let weight: number | undefined;
  let age: number;
  let unavailableReason: string | undefined;
  let capacity: Capacity;
  let health: Health;
  beforeEach(async () => {
    spendable = 1_000_000n;
    carried = 0;
    weight = undefined;
    age = 0;
    unavailableReason = undefined;
    const key = { name: "key", status: () => unavailableIf("attestor_key_unusable", unavailableReason) };
    health = createHealth([key], { clock: new TestClock(), log: pino({ level: "silent" }) });
    capacity = createCapacity({
      ledger: { spendable: async () => spendable, fee: FEE },
      runner: {
        get active() {
          return { calls: carried, weight: weight ?? carried };
        },
        get queueAge() {
          return age;
        },
      },
      maxInFlight: () => 3,
      health,
    });
    await refresh();
  });

  const refresh = () => capacity.refresh(AbortSignal.timeout(1_000));
  /** The problem that a payer gets, with the reasons that `/ready` lists. */
  function refusal(): { code: string; retryAfter: number | undefined; reasons: string[] } | undefined {
    const offers = { unavailable: () => [], degraded: () => [], isOpen: true };
    const { ready, reasons } = readiness({ health, capacity, offers });
    try {
      capacity.enter()();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      expect(ready).toBe(false);
      expect(error.status).toBe(503);
      return { code: error.code, retryAfter: error.retryAfter, reasons };
    }
    expect([ready, reasons]).toEqual([true, []]);
    return undefined;
  }

  test("lets calls in while nothing is wrong", () => {
    expect(refusal()).toBeUndefined();
  });

  test("a batch that is carried takes the room of its weight, and leaves it to others when it is done", () => {
    weight = 3;
    carried = 1;
    expect(refusal()?.reasons).toEqual(["1 calls are in flight. Batches among them take the room of 2 more."]);
    weight = 2;
    expect(refusal()).toBeUndefined();
  });

  test("counts who is being admitted together with what is carried, each once", () => {
    carried = 1;
    const leave = capacity.enter();
    expect(refusal()).toBeUndefined();
    capacity.enter();
    const full = { code: "over_capacity", retryAfter: 5, reasons: ["3 calls are in flight."] };
    expect(refusal()).toEqual(full);
    leave();
    leave();
    expect(refusal()).toBeUndefined();
    carried = 2;
    expect(refusal()).toEqual(full);
  });

  test("admits no call behind a paid call that waits too long for its bundle", () => {
    age = 60_000;
    expect(refusal()).toBeUndefined();
    age = 61_500;
    const reasons = ["A paid call has waited for its bundle for 61 s."];
    expect(refusal()).toEqual({ code: "over_capacity", retryAfter: 30, reasons });
    age = 0;
    expect(refusal()).toBeUndefined();
  });

  test("keeps the fees of all that is in flight, and a reserve", async () => {
    carried = 1;
    spendable = RESERVE + 2n * FEE;
    await refresh();
    expect(refusal()).toBeUndefined();
    carried = 2;
    const reasons = ["The attestor's account is short of ALGO."];
    expect(refusal()).toEqual({ code: "attestor_unfunded", retryAfter: 300, reasons });
  });

  test("admits no call before the balance was read, while the key may not sign, or once it stops", () => {
    const unread = createCapacity({
      ledger: { spendable: async () => spendable, fee: FEE },
      runner: { active: { calls: 0, weight: 0 }, queueAge: 0 },
      maxInFlight: () => 3,
      health,
    });
    expect(unread.refusal()?.code).toBe("providers_unavailable");
    unavailableReason = "The key was revoked.";
    expect(refusal()).toEqual({ code: "attestor_key_unusable", retryAfter: 60, reasons: ["The key was revoked."] });
    capacity.stop();
    expect(refusal()).toMatchObject({
      code: "stopping",
      reasons: ["The service is stopping.", "The key was revoked."],
    });
  });
});
