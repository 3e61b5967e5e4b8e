import { createPublicKey } from "node:crypto";
import { verifySignature } from "@attestd/proof/attestor";
import { fromHex, toHex } from "@attestd/proof/encoding";
import { describe, expect, test } from "vitest";
import { vectors } from "../../../../proof/test/vectors.ts";
import { seedSigner } from "../../../test/seed-signer.ts";
import { nativeCrypto, serviceCrypto } from "./crypto.ts";
import { wasmKeccak256 } from "./keccak.ts";

const never = new AbortController().signal;

type Case = { tcId: number; msg: string; ctx?: string; sig: string; result: string };

describe("the platform's ML-DSA-65", () => {
  const { testGroups, numberOfTests } = vectors.json("ml-dsa-65/mldsa_65_verify_test.json");

  test.each([
    ["agrees", async () => nativeCrypto],
    ["with keys kept agrees", serviceCrypto],
  ])("%s with every Wycheproof case", async (_, open) => {
    const crypto = await open();
    let seen = 0;
    for (const { publicKey, tests } of testGroups as { publicKey: string; tests: Case[] }[]) {
      for (const { tcId, msg, ctx, sig, result } of tests) {
        const verified = verifySignature(fromHex(publicKey), fromHex(msg), fromHex(sig), crypto);
        // Our signatures have an empty context: a case with another one must not verify.
        expect(verified, `case ${tcId}`).toBe(result === "valid" && !ctx);
        seen++;
      }
    }
    expect(seen).toBe(numberOfTests);
  });
});

test("a signer's signatures verify under its public key, and are hedged", async () => {
  const signer = seedSigner(new Uint8Array(32).fill(9));
  const message = new TextEncoder().encode("message");
  const [first, second] = [await signer.sign(message, never), await signer.sign(message, never)];
  expect(first).toHaveLength(3309);
  expect(first).not.toEqual(second);
  for (const signature of [first, second])
    expect(verifySignature(signer.publicKey, message, signature, nativeCrypto)).toBe(true);
  expect(verifySignature(signer.publicKey, new Uint8Array(1), first, nativeCrypto)).toBe(false);
});

test("a key verifies among a hundred others", async () => {
  const crypto = await serviceCrypto();
  const message = new TextEncoder().encode("message");
  const signers = Array.from({ length: 100 }, (_, index) => seedSigner(new Uint8Array(32).fill(index)));
  const signatures = await Promise.all(signers.map((signer) => signer.sign(message, never)));
  for (const round of [0, 1]) {
    for (const [index, { publicKey }] of signers.entries()) {
      const own = signatures[index] as Uint8Array;
      const other = signatures[(index + 1) % 100] as Uint8Array;
      expect(verifySignature(publicKey, message, own, crypto), `key ${index}, round ${round}`).toBe(true);
      expect(verifySignature(publicKey, message, other, crypto), `key ${index}, round ${round}`).toBe(false);
    }
  }
});

test("the attestor's own key stays imported while many other keys are used", async () => {
  const imports: string[] = [];
  const crypto = await serviceCrypto((publicKey) => {
    imports.push(toHex(publicKey));
    return createPublicKey({ key: Buffer.from(publicKey), format: "raw-public", asymmetricKeyType: "ml-dsa-65" });
  });
  const message = new TextEncoder().encode("message");
  const own = seedSigner(new Uint8Array(32).fill(200));
  const signature = await own.sign(message, never);
  crypto.pin([own.publicKey]);
  for (let index = 0; index < 200; index++) {
    const stranger = Uint8Array.from({ length: own.publicKey.length }, (_, byte) => byte * 7 + index);
    expect(verifySignature(stranger, message, signature, crypto)).toBe(false);
  }
  expect(verifySignature(own.publicKey, message, signature, crypto)).toBe(true);
  crypto.pin([own.publicKey]);
  expect(imports.filter((key) => key === toHex(own.publicKey))).toHaveLength(1);
  expect(imports).toHaveLength(201);
});

test("of other keys, those used last stay imported", async () => {
  let imports = 0;
  const crypto = await serviceCrypto((publicKey) => {
    imports++;
    return createPublicKey({ key: Buffer.from(publicKey), format: "raw-public", asymmetricKeyType: "ml-dsa-65" });
  });
  const verifyBy = (index: number) =>
    verifySignature(new Uint8Array(1952).fill(index), new Uint8Array(1), new Uint8Array(3309), crypto);
  for (let index = 1; index <= 100; index++) {
    verifyBy(0);
    verifyBy(index);
  }
  expect(imports).toBe(101);
});

test("keccak in WebAssembly returns what the portable one returns", async () => {
  const keccak256 = await wasmKeccak256();
  for (const length of [0, 1, 135, 136, 137, 272, 16_384, 16_385, 200_000]) {
    const bytes = Uint8Array.from({ length }, (_, index) => index * 7);
    expect(toHex(keccak256(bytes)), `${length} bytes`).toBe(toHex(nativeCrypto.keccak256(bytes)));
  }
});
