import { beforeEach, describe, expect, test } from "vitest";
import { serviceError } from "../../test/errors.ts";
import { Breaker, type Vote } from "./breaker.ts";

describe("a breaker", () => {
  let now: number;
  let breaker: Breaker;
  beforeEach(() => {
    now = 0;
    breaker = new Breaker({ breakAfter: 3, firstRestMs: 100, maxRestMs: 300, now: () => now });
  });

  const votes = async (...given: Vote[]) => {
    for (const one of given) await breaker.run(async (vote) => vote(one));
  };

  test("opens after failures in a row, and an answer between them begins the row anew", async () => {
    await votes("failed", "failed", "answered", "failed", "failed");
    expect(breaker.isOpen).toBe(false);
    await votes("failed");
    expect([breaker.isOpen, breaker.isResting]).toEqual([true, true]);
    await expect(votes("answered")).rejects.toThrow(serviceError("breaker_open"));
  });

  test("an unclear vote neither opens nor closes it", async () => {
    await votes("failed", "unclear", "failed", "unclear", "unclear", "unclear");
    await breaker.run(async () => undefined);
    expect(breaker.isOpen).toBe(false);
    await votes("failed");
    now = 100;
    await votes("unclear");
    expect(breaker.isOpen).toBe(true);
  });

  test("is tried by one request after a rest, and the others do not wait for it", async () => {
    await votes("failed", "failed", "failed");
    now = 100;
    const tried = Promise.withResolvers<void>();
    const trying = breaker.run(async (vote) => {
      await tried.promise;
      vote("answered");
    });
    await expect(votes("answered")).rejects.toThrow(serviceError("breaker_open"));
    tried.resolve();
    await trying;
    await votes("answered");
    expect(breaker.isOpen).toBe(false);
  });

  test("rests twice as long after every try that fails, up to a bound, and from the start once one is answered", async () => {
    await votes("failed", "failed", "failed");
    for (const rest of [100, 200, 300, 300]) {
      now += rest - 1;
      expect(breaker.isResting).toBe(true);
      now += 1;
      expect(breaker.isResting).toBe(false);
      await votes("failed");
    }
    now += 300;
    await votes("answered", "failed", "failed", "failed");
    now += 100;
    expect(breaker.isResting).toBe(false);
  });

  test("a request that ends after it broke does not lengthen the rest", async () => {
    const late = Promise.withResolvers<void>();
    const under = breaker.run(async (vote) => {
      await late.promise;
      vote("failed");
    });
    await votes("failed", "failed", "failed");
    now = 99;
    late.resolve();
    await under;
    now = 100;
    expect(breaker.isResting).toBe(false);
  });
});
