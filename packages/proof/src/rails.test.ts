import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatUsdc, parseUsdc } from "./rails.ts";

describe("USDC", () => {
  test("is written without trailing zeros", () => {
    expect([0n, 1n, 1000n, 1_000_000n, 12_345_600n].map(formatUsdc)).toEqual([
      "0",
      "0.000001",
      "0.001",
      "1",
      "12.3456",
    ]);
  });

  test("is read as it is written", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 17n }), (micro) => {
        expect(parseUsdc(formatUsdc(micro))).toBe(micro);
      }),
    );
  });

  test.each(["", "-1", "1.", ".5", "1e3", "0.0000001", "0,01", " 1", "1 USDC"])("%j is no amount", (text) => {
    expect(() => parseUsdc(text)).toThrow(RangeError);
  });
});
