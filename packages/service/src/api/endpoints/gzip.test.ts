import { execFileSync } from "node:child_process";
import { gunzipSync } from "node:zlib";
import fc from "fast-check";
import { expect, test } from "vitest";
import { gzipAround, takesGzip } from "./gzip.ts";

// RFC 9110, 12.5.3, including its examples.
test.each([
  [undefined, false],
  ["", false],
  ["compress, gzip", true],
  ["*", true],
  ["compress;q=0.5, gzip;q=1.0", true],
  ["gzip;q=1.0, identity; q=0.5, *;q=0", true],
  ["gzip, deflate, br, zstd", true],
  ["GZIP ; Q=0.001", true],
  ["gzip;q=0", false],
  ["gzip; q=0.000, *", false],
  ["*;q=0", false],
  ["br, deflate", false],
  ["gzipped", false],
])("Accept-Encoding of %s accepts gzip: %s", (header, takes) => {
  expect(takesGzip(header)).toBe(takes);
});

const part = fc.string({ unit: "grapheme", minLength: 1, maxLength: 5_000 });
const text = fc.string({ unit: "grapheme", maxLength: 300 });

test("a text around a part that is compressed already decompresses to itself", () => {
  fc.assert(
    fc.property(part, fc.array(fc.tuple(text, text), { minLength: 1, maxLength: 3 }), (same, around) => {
      const gzip = gzipAround(same);
      for (const [before, after] of around) {
        const whole = `${before}${same}${after}`;
        expect(gunzipSync(gzip(whole) as Buffer).toString()).toBe(whole);
      }
    }),
  );
});

test("the result is one member, as browsers require, and gzip -t accepts it", () => {
  const whole = `{"id":1,"result":${JSON.stringify({ tools: ["attest ".repeat(10_000)] })}}`;
  const compressed = gzipAround(`"tools":["${"attest ".repeat(10_000)}"]`)(whole) as Buffer;
  expect(compressed.length).toBeLessThan(1_000);
  expect(compressed.lastIndexOf(Uint8Array.of(0x1f, 0x8b, 8))).toBe(0);
  expect(execFileSync("gzip", ["-dc"], { input: compressed }).toString()).toBe(whole);
});

test("a text without the part is not compressed", () => {
  expect(gzipAround("tools")("nothing")).toBeUndefined();
});
