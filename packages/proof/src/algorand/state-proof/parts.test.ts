import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { fromBase64, toBase64 } from "../../encoding.ts";
import { constantLength, verifyFalcon } from "./falcon.ts";
import { sumhash512 } from "./sumhash.ts";

/* Values made by Algorand's own Go modules, with test/recorded/state-proof-parts. */

type Parts = {
  sumhash512: { length: number; hash: string }[];
  falcon: { publicKey: string; message: string; signature: string; ct: string }[];
  refused: { why: string; signature: string }[];
};
const file = new URL("../../../test/recorded/state-proof-parts.json", import.meta.url);
const parts: Parts = JSON.parse(readFileSync(file, "utf8"));

/** Makes the message that the Go program hashes. */
function message(length: number): Uint8Array {
  const blocks = Array.from({ length: Math.ceil(length / 32) }, (_, index) =>
    createHash("sha256")
      .update(Uint8Array.of(length, length >> 8, index, index >> 8))
      .digest(),
  );
  return new Uint8Array(Buffer.concat(blocks).subarray(0, length));
}

describe("sumhash512", () => {
  it.each(parts.sumhash512)("is go-sumhash's of $length bytes", ({ length, hash }) => {
    expect(toBase64(sumhash512(message(length)))).toBe(hash);
  });
});

describe("deterministic Falcon-1024", () => {
  it.each(parts.falcon)("verifies what algorand/falcon signed, and nothing else", (one) => {
    const [publicKey, text, signature] = [one.publicKey, one.message, one.signature].map(fromBase64) as [
      Uint8Array,
      Uint8Array,
      Uint8Array,
    ];
    expect(verifyFalcon(publicKey, text, signature)).toBe(true);
    expect(verifyFalcon(publicKey, Uint8Array.of(...text, 0), signature)).toBe(false);
    expect(toBase64(constantLength(signature) as Uint8Array)).toBe(one.ct);
  });

  const { publicKey, message: text } = parts.falcon[1] as Parts["falcon"][number];
  it.each(parts.refused)("refuses what algorand/falcon refuses: $why", ({ signature }) => {
    expect(verifyFalcon(fromBase64(publicKey), fromBase64(text), fromBase64(signature))).toBe(false);
  });

  it("refuses coefficients that are written in another way", () => {
    const signature = fromBase64(parts.falcon[1]?.signature ?? "");
    const refused = (change: (copy: Uint8Array) => Uint8Array) =>
      expect(constantLength(change(signature.slice()))).toBeUndefined();
    refused((copy) => Uint8Array.of(...copy, 0));
    refused((copy) => copy.subarray(0, -1));
    // "-0": the sign, seven zeros and the end of the high part.
    refused((copy) => Uint8Array.of(...copy.subarray(0, 2), 0x80, 0x80, ...copy.subarray(4)));
    // 2048: sixteen zeros before the one.
    refused((copy) => Uint8Array.of(...copy.subarray(0, 2), 0, 0, 0, 0x80, ...copy.subarray(6)));
  });
});
