import { createHash } from "node:crypto";
import { zstdDecompressSync } from "node:zlib";
import { expect, test } from "vitest";
import { dictionaryHash, dictionaryOf, pack, unpack } from "./packing.ts";

/** As long as a key, and as little to be shortened. */
const PUBLIC_KEY = Array.from({ length: 61 }, (_, i) => createHash("sha256").update(`${i}`).digest("base64")).join("");
const KEY = { kid: "k", pqPublicKey: PUBLIC_KEY } as never;
const dictionary = dictionaryOf(KEY);

test("a packed text is the SHA-256 of its dictionary and one zstd frame, and comes back as it was", () => {
  for (const text of ["", "{}", 'a "\\ \u0000 é \u{1f4b0}', "x".repeat(3_000_000)]) {
    const packed = pack(text, dictionary);
    const sha256 = createHash("sha256").update(dictionary.content).digest();
    expect(Buffer.from(packed.subarray(0, 32))).toEqual(sha256);
    expect(Buffer.from(dictionaryHash(packed))).toEqual(sha256);
    const frame = packed.subarray(32);
    expect(Buffer.from(frame.subarray(0, 4))).toEqual(Buffer.from("28b52ffd", "hex"));
    expect(zstdDecompressSync(frame, { dictionary: Buffer.from(dictionary.content) }).toString()).toBe(text);
    expect(unpack(packed, dictionary.content)).toBe(text);
  }
});

test("a frame of which a byte is another, or that would fill the memory, is refused", () => {
  const packed = pack('{"signature":"one"}', dictionary);
  for (const at of [34, packed.length - 1])
    expect(() => unpack(Uint8Array.from(packed).with(at, (packed[at] as number) ^ 1), dictionary.content)).toThrow();
  expect(() => unpack(pack("x".repeat(4 * 1024 * 1024 + 1), dictionary), dictionary.content)).toThrow();
});

test("the key that every bundle has takes no room in any of them", () => {
  const bundle = JSON.stringify({ attestor: { pqPublicKey: PUBLIC_KEY }, note: "own" });
  expect(pack(bundle, dictionary).length).toBeLessThan(32 + 80);
  expect(dictionaryOf(KEY).hash).toEqual(dictionary.hash);
  expect(dictionaryOf(undefined).hash).not.toEqual(dictionary.hash);
});
