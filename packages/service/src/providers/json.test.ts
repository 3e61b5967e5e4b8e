import fc from "fast-check";
import { expect, it } from "vitest";
import { parseLosslessJson } from "./json.ts";

it.each<[string, unknown]>([
  ["18446744073709551615", 18446744073709551615n],
  ["-9223372036854775808", -9223372036854775808n],
  ['{"a":9007199254740992}', { a: 9007199254740992n }],
  ['{ "a" :\t9007199254740993 , "b":[1,\n9007199254740993]}', { a: 9007199254740993n, b: [1, 9007199254740993n] }],
  ["[9007199254740991]", [9007199254740991]],
  ['"18446744073709551615"', "18446744073709551615"],
  [`[${2n ** 256n - 1n}]`, [2n ** 256n - 1n]],
  ['{"a":"x,18446744073709551615","b":1.5,"c":1e400}', { a: "x,18446744073709551615", b: 1.5, c: Infinity }],
])("reads %s", (text, value) => {
  expect(parseLosslessJson(text)).toEqual(value);
});

it("keeps every integer, wherever it stands", () => {
  const integer = fc.bigInt({ min: -(2n ** 64n), max: 2n ** 64n });
  fc.assert(
    fc.property(fc.array(integer), fc.integer({ min: 0, max: 3 }), (integers, indent) => {
      const space = " ".repeat(indent);
      const text = `{"a":${space}[${integers.join(`,${space}`)}${space}]}`;
      const { a } = parseLosslessJson(text) as { a: (number | bigint)[] };
      expect(a.map(BigInt)).toEqual(integers);
      expect(a.every((item) => typeof item === "bigint" || Number.isSafeInteger(item))).toBe(true);
    }),
  );
});

it("reads an integer longer than any chain's as JSON.parse does: a decimal of 1 MB would take longer than its length says", () => {
  expect(parseLosslessJson(`[${"9".repeat(2 ** 20)}]`)).toEqual([Infinity]);
});

const N = 1_500_000;
it.each<[string, string]>([
  ["lists within each other", "[".repeat(N)],
  ["closed lists within each other", "[".repeat(N) + "]".repeat(N)],
  ["objects within each other", '{"a":'.repeat(N)],
  ["items", `[${"0,".repeat(N)}0]`],
  ["long integers", `[${"18446744073709551615,".repeat(N / 5)}0]`],
])("does not parse millions of %s, which would take seconds of this process", (_, text) => {
  expect(() => parseLosslessJson(text)).toThrow(/too many levels or members/);
});

it("counts nothing within the strings of a long text", () => {
  const value = { note: '[{,"\\'.repeat(300_000), a: "\\", list: Array.from({ length: 50_000 }, (_, n) => [n]) };
  expect(parseLosslessJson(JSON.stringify(value))).toEqual(value);
});
