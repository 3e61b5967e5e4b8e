import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  compareBytes,
  concatBytes,
  equalBytes,
  fileText,
  fromBase32,
  fromBase64,
  fromBase64Url,
  fromHex,
  fromUtf8,
  toBase32,
  toBase64,
  toBase64Url,
  toHex,
  utf8,
} from "./encoding.ts";

const codecs = {
  hex: { encode: toHex, decode: fromHex, alphabet: "0123456789abcdefABCDEF" },
  base64: { encode: toBase64, decode: fromBase64, alphabet: "ABab01+/-_= \n" },
  base64url: { encode: toBase64Url, decode: fromBase64Url, alphabet: "ABab01+/-_= \n" },
  base32: { encode: toBase32, decode: fromBase32, alphabet: "ABYZ2701ab= " },
};

/** Removes the platform's own base64, as before Node 25, and restores it. */
function withoutPlatformBase64(): void {
  const { fromBase64: decode } = Uint8Array;
  const { toBase64: encode } = Uint8Array.prototype;
  beforeAll(() => {
    Reflect.deleteProperty(Uint8Array, "fromBase64");
    Reflect.deleteProperty(Uint8Array.prototype, "toBase64");
  });
  afterAll(() => {
    Object.assign(Uint8Array, { fromBase64: decode });
    Object.assign(Uint8Array.prototype, { toBase64: encode });
  });
}

describe("on an older platform", () => {
  withoutPlatformBase64();
  describe.each(Object.entries(codecs))("%s", hasOneSpelling);
});

describe.each(Object.entries(codecs))("%s", hasOneSpelling);

function hasOneSpelling(_name: string, { encode, decode, alphabet }: (typeof codecs)[keyof typeof codecs]): void {
  it("gives back the bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        expect(decode(encode(bytes))).toEqual(bytes);
      }),
    );
  });

  it("takes only the one spelling of any bytes", () => {
    const texts = fc.string({ unit: fc.constantFrom(...alphabet), maxLength: 16 });
    fc.assert(
      fc.property(texts, (text) => {
        let bytes: Uint8Array;
        try {
          bytes = decode(text);
        } catch (error) {
          expect(error).toMatchObject({ name: "ProofError", code: "malformed" });
          return;
        }
        expect(encode(bytes)).toBe(text);
      }),
      { numRuns: 2000 },
    );
  });
}

it("spells the examples of RFC 4648 section 10", () => {
  const foobar = utf8("foobar");
  const prefixes = [1, 2, 3, 4, 5, 6].map((length) => foobar.subarray(0, length));
  expect(prefixes.map(toBase64)).toEqual(["Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"]);
  expect(prefixes.map(toBase32)).toEqual(["MY", "MZXQ", "MZXW6", "MZXW6YQ", "MZXW6YTB", "MZXW6YTBOI"]);
});

it.each([
  ["padding missing", fromBase64, "Zg"],
  ["padding of base64url", fromBase64Url, "Zg=="],
  ["unused bits", fromBase64, "Zh=="],
  ["unused bits", fromBase64Url, "Zh"],
  ["unused bits", fromBase32, "MZ"],
  ["an impossible length", fromBase32, "AAA"],
  ["white space", fromBase64, "Zm 9v"],
  ["upper case", fromHex, "AB"],
  ["half a byte", fromHex, "abc"],
])("refuses %s", (_what, decode, text) => {
  expect(() => decode(text)).toThrow(expect.objectContaining({ name: "ProofError", code: "malformed" }));
});

it("refuses bytes that are not UTF-8, and keeps a byte order mark", () => {
  expect(() => fromUtf8(Uint8Array.of(0xc3, 0x28))).toThrow(
    expect.objectContaining({ name: "ProofError", code: "malformed" }),
  );
  expect(fromUtf8(Uint8Array.of(0xef, 0xbb, 0xbf))).toBe("\ufeff");
});

it("skips the byte order mark of a file, and names UTF-16", () => {
  const bytesOf = (text: string) => new Uint8Array(Buffer.from(text, "utf16le"));
  expect(fileText(utf8("\ufeff{}"))).toBe("{}");
  expect(fileText(utf8("\ufeff\ufeff{}"))).toBe("\ufeff{}");
  expect(fileText(Uint8Array.of(0, 1, 0, 0))).toBe("\0\u0001\0\0");
  for (const text of ["\ufeff{}", "{}", "é, but with a mark".padStart(20, "\ufeff")])
    for (const bytes of [bytesOf(text), new Uint8Array(Buffer.from(bytesOf(text)).swap16())])
      expect(() => fileText(bytes), text).toThrow(/UTF-16.*save it as UTF-8/);
  expect(() => fileText(Uint8Array.of(0x7b, 0xc3, 0x28))).toThrow("not text in UTF-8");
});

it("compares and joins byte strings", () => {
  fc.assert(
    fc.property(fc.uint8Array(), fc.uint8Array(), (a, b) => {
      expect(equalBytes(a, b)).toBe(toHex(a) === toHex(b));
      expect(Math.sign(compareBytes(a, b))).toBe(toHex(a) < toHex(b) ? -1 : toHex(a) > toHex(b) ? 1 : 0);
      expect(toHex(concatBytes(a, b))).toBe(toHex(a) + toHex(b));
    }),
  );
});
