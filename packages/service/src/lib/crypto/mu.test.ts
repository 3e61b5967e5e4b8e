import { fromHex, toHex } from "@attestd/proof/encoding";
import { ml_dsa65 } from "@noble/post-quantum/ml-dsa.js";
import { describe, expect, test } from "vitest";
import { readLargeVectors } from "../../../../proof/test/vectors.ts";
import { nativeCrypto } from "./crypto.ts";
import { messageRepresentative } from "./mu.ts";

const large = readLargeVectors("µ of Wycheproof's ML-DSA-65 signatures");

type Group = { publicKey: string | null; tests: { tcId: number; msg?: string; ctx?: string; mu?: string }[] };

test.skipIf(!large)("µ is Wycheproof's in every case with a message and no context", () => {
  const testGroups: Group[] = large?.json("ml-dsa-65/mldsa_65_sign_seed_test.json").testGroups ?? [];
  let seen = 0;
  for (const { publicKey, tests } of testGroups)
    for (const { tcId, msg, ctx, mu } of tests) {
      if (!publicKey || msg === undefined || mu === undefined) continue;
      const ours = toHex(messageRepresentative(fromHex(publicKey), fromHex(msg)));
      // Our signatures have an empty context: a case with another one has another µ.
      if (ctx) expect(ours, `case ${tcId}`).not.toBe(mu);
      else expect(ours, `case ${tcId}`).toBe(mu);
      seen++;
    }
  expect(seen).toBe(84);
});

describe("noble's signature of µ is the platform's of the message", () => {
  const { publicKey, secretKey } = ml_dsa65.keygen(new Uint8Array(32).fill(7));

  test.each([0, 1, 135, 136, 137, 4_097, 100_000])("%i bytes", (length) => {
    const message = new Uint8Array(length).fill(length % 251);
    const mu = messageRepresentative(publicKey, message);
    const signature = ml_dsa65.internal.sign(mu, secretKey, { externalMu: true });
    expect(nativeCrypto.mldsa65.verify(publicKey, message, signature)).toBe(true);
    const other = ml_dsa65.keygen(new Uint8Array(32).fill(8)).publicKey;
    expect(messageRepresentative(other, message)).not.toEqual(mu);
  });
});
