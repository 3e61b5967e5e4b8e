import fc from "fast-check";
import { expect, it } from "vitest";
import { ascii, groupedUnits, isLoopback, printable, utcTime } from "./text.ts";

it("groupedUnits is exact for every amount", () => {
  expect(groupedUnits(0n, 6, 2)).toBe("0.00");
  expect(groupedUnits(1n, 6, 2)).toBe("0.000001");
  expect(groupedUnits(25_000_000n, 6, 2)).toBe("25.00");
  expect(groupedUnits(1_234_567_890_000n, 6)).toBe("1,234,567.89");
  expect(groupedUnits(1234n, 0)).toBe("1,234");
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), fc.integer({ min: 1, max: 18 }), (units, decimals) => {
      const [whole = "", fraction = ""] = groupedUnits(units, decimals).replaceAll(",", "").split(".");
      expect(BigInt(whole + fraction.padEnd(decimals, "0"))).toBe(units);
    }),
  );
});

it("printable shows what could hide or reorder other text", () => {
  expect(printable("a\u202eb\n\u200bc é")).toBe("a\\u{202e}b\\u{a}\\u{200b}c é");
  expect(ascii("é€")).toBe("\\u{e9}\\u{20ac}");
});

it("utcTime writes any number of seconds", () => {
  expect(utcTime(0)).toBe("1970-01-01 00:00:00 UTC");
  expect(utcTime(1_000_000_000)).toBe("2001-09-09 01:46:40 UTC");
  expect(utcTime(253_402_300_800)).toBe("+010000-01-01 00:00:00 UTC");
  expect(utcTime(8_640_000_000_001)).toBe("8640000000001 s after 1970");
});

it.each([
  ["localhost", true],
  ["127.0.0.1", true],
  ["127.9.9.9", true],
  ["::1", true],
  ["[::1]", true],
  ["0.0.0.0", false],
  ["10.0.0.1", false],
  ["127.0.0.1.example", false],
  ["localhost.example", false],
  ["[::2]", false],
  ["", false],
])("%j is this machine: %s", (host, isOwn) => {
  expect(isLoopback(host)).toBe(isOwn);
});
