import fc from "fast-check";
import { expect, test } from "vitest";
import { createByteCache } from "./chain-records.ts";

test("keeps the latest values within its bytes, each for a limited time", () => {
  let now = 1;
  const cache = createByteCache<string>(1_000, 100, () => now);
  for (const key of ["a", "b", "c", "d"]) cache.set(key, key, 100);
  expect(["a", "b", "c", "d"].map((key) => cache.get(key))).toEqual([undefined, "b", "c", "d"]);
  cache.set("large", "large", 801);
  expect([cache.get("large"), cache.get("d")]).toEqual([undefined, "d"]);
  now = 102;
  expect(["b", "c", "d"].map((key) => cache.get(key))).toEqual([undefined, undefined, undefined]);
});

test("never exceeds its bytes, whatever is set and how often", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.integer({ min: 0, max: 9 }), fc.nat({ max: 1_200 }))), (sets) => {
      const cache = createByteCache<number>(1_000, 1, () => 0);
      const last = new Map<number, number>();
      for (const [key, bytes] of sets) {
        cache.set(String(key), bytes, bytes);
        last.set(key, bytes);
      }
      const kept = [...last].filter(([key]) => cache.get(String(key)) !== undefined);
      expect(kept.reduce((sum, [, bytes]) => sum + bytes, 0)).toBeLessThanOrEqual(1_000);
      expect(kept.every(([key, bytes]) => cache.get(String(key)) === bytes)).toBe(true);
    }),
  );
});
