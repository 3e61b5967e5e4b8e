import reference from "canonicalize";
import fc from "fast-check";
import { expect, it } from "vitest";
import { utf8 } from "../encoding.ts";
import { canonicalBytes, canonicalize } from "./canonical.ts";
import type { JsonValue } from "./parse.ts";

it("agrees with another implementation of RFC 8785", () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: "binary" }), (value) => {
      const text = reference(value);
      expect(canonicalize(value as JsonValue)).toBe(text);
      expect(canonicalBytes(value as JsonValue)).toEqual(utf8(text ?? ""));
    }),
  );
});

it("spells the example of RFC 8785 section 3.2.3", () => {
  const members = { "\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\ud83d\ude00": 5, "\u0080": 6, "\u00f6": 7 };
  expect(canonicalize(members)).toBe('{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\ud83d\ude00":5,"\ufb33":3}');
  expect(canonicalize(JSON.parse("[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001,-0]"))).toBe(
    "[333333333.3333333,1e+30,4.5,0.002,1e-27,0]",
  );
});

it.each([[Number.NaN], [Number.POSITIVE_INFINITY], ["\ud800"], [{ "\ud800": 1 }], [[undefined]], [{ a: undefined }]])(
  "refuses %j",
  (value) => {
    expect(() => canonicalize(value as unknown as JsonValue)).toThrow(TypeError);
  },
);
