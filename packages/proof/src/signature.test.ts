import { createPublicKey } from "node:crypto";
import { ml_dsa65 } from "@noble/post-quantum/ml-dsa.js";
import { describe, expect, it } from "vitest";
import { nativeCrypto } from "../test/native-crypto.ts";
import { vectors } from "../test/vectors.ts";
import { concatBytes, fromBase64, fromHex, toHex, utf8 } from "./encoding.ts";
import { nobleCrypto, rememberingLast, verifySignature } from "./signature.ts";
import { jwk } from "./trust.ts";

const implementations = {
  noble: nobleCrypto,
  "noble, remembered": rememberingLast(nobleCrypto),
  "node:crypto": nativeCrypto,
};

describe("Wycheproof ML-DSA-65", () => {
  type Test = { tcId: number; comment: string; msg: string; ctx?: string; sig: string; result: string };
  type Group = { publicKey: string; tests: Test[] };
  const { testGroups, numberOfTests } = vectors.json("ml-dsa-65/mldsa_65_verify_test.json");
  const cases = testGroups.flatMap(({ publicKey, tests }: Group) => tests.map((test) => ({ publicKey, ...test })));

  it("has 210 cases", () => {
    expect(cases).toHaveLength(210);
    expect(numberOfTests).toBe(210);
  });

  it.each<Test & { publicKey: string }>(cases)("$tcId $comment", ({ publicKey, msg, ctx, sig, result }) => {
    const [key, message, signature] = [fromHex(publicKey), fromHex(msg), fromHex(sig)];
    // Our signatures have an empty context: a signature with another one must not pass.
    const expected = result === "valid" && (ctx === undefined || ctx === "");
    for (const [name, crypto] of Object.entries(implementations))
      expect(verifySignature(key, message, signature, crypto), name).toBe(expected);
    if (ctx !== undefined && ctx.length <= 2 * 255)
      expect(ml_dsa65.verify(signature, message, key, { context: fromHex(ctx) })).toBe(result === "valid");
  });
});

describe("the example key pair of RFC 9881", () => {
  const der = (name: string) => fromBase64(vectors.text(`ml-dsa-65/${name}`).replace(/-----.*?-----|\s/g, ""));
  const seed = der("ML-DSA-65-seed.priv").subarray(-32);
  const spki = der("ML-DSA-65.pub");
  const publicKey = spki.subarray(22);

  it("is the key of the seed 00 to 1f", () => {
    expect(toHex(seed)).toBe(toHex(Uint8Array.from({ length: 32 }, (_, index) => index)));
    expect(toHex(ml_dsa65.keygen(seed).publicKey)).toBe(toHex(publicKey));
    expect(toHex(spki.subarray(0, 22))).toBe("308207b2300b0609608648016503040312038207a100");
  });

  it("is the same key as a JWK", () => {
    const { kid: _, ...key } = jwk(publicKey);
    const exported = createPublicKey({ key, format: "jwk" }).export({ format: "der", type: "spki" });
    expect(toHex(exported)).toBe(toHex(spki));
  });

  it("signs what both implementations verify", () => {
    const message = utf8("message");
    const signature = ml_dsa65.sign(message, ml_dsa65.keygen(seed).secretKey);
    for (const crypto of Object.values(implementations)) {
      expect(verifySignature(publicKey, message, signature, crypto)).toBe(true);
      expect(verifySignature(publicKey, utf8("Message"), signature, crypto)).toBe(false);
    }
  });
});

describe("verifySignature", () => {
  it("is false, and asks no one, for keys and signatures of another length", () => {
    const crypto = {
      mldsa65: {
        verify: () => {
          throw new Error("asked");
        },
      },
    };
    const [key, signature] = [new Uint8Array(1952), new Uint8Array(3309)];
    for (const [badKey, badSignature] of [
      [key.subarray(1), signature],
      [concatBytes(key, Uint8Array.of(0)), signature],
      [new Uint8Array(), signature],
      [key, signature.subarray(1)],
      [key, concatBytes(signature, Uint8Array.of(0))],
      [key, new Uint8Array()],
    ] as const)
      expect(verifySignature(badKey, utf8("m"), badSignature, crypto)).toBe(false);
  });

  it("is false for zeros", () => {
    for (const crypto of Object.values(implementations))
      expect(verifySignature(new Uint8Array(1952), utf8("m"), new Uint8Array(3309), crypto)).toBe(false);
  });
});
