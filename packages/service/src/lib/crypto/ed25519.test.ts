import { expect, test } from "vitest";
import { isEd25519Signature } from "./ed25519.ts";

/** RFC 8032, section 7.1: public key, message, signature. */
const VECTORS = [
  [
    "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
    "",
    "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
  ],
  [
    "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
    "72",
    "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
  ],
  [
    "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
    "af82",
    "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
  ],
].map((vector) => vector.map((hex) => Uint8Array.fromHex(hex)) as [Uint8Array, Uint8Array, Uint8Array]);

test.each(VECTORS)(
  "a signature of RFC 8032 is its key's, and with one bit changed it is not",
  (key, message, signature) => {
    expect(isEd25519Signature(key, message, signature)).toBe(true);
    for (let bit = 0; bit < 512; bit++) {
      const changed = signature.with(bit >> 3, (signature[bit >> 3] as number) ^ (1 << (bit & 7)));
      expect(isEd25519Signature(key, message, changed), `bit ${bit}`).toBe(false);
    }
    for (const [other] of VECTORS) if (other !== key) expect(isEd25519Signature(other, message, signature)).toBe(false);
    expect(isEd25519Signature(key, Uint8Array.of(...message, 0), signature)).toBe(false);
  },
);

test("what is no key or no signature is none, and throws nothing", () => {
  const [[key, message, signature]] = VECTORS as [(typeof VECTORS)[0]];
  expect(isEd25519Signature(key.subarray(1), message, signature)).toBe(false);
  expect(isEd25519Signature(key, message, signature.subarray(1))).toBe(false);
  // No point of the curve has this y coordinate.
  expect(isEd25519Signature(new Uint8Array(32).fill(2), message, signature)).toBe(false);
});
