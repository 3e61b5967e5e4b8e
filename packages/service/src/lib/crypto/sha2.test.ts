import { toHex, utf8 } from "@attestd/proof/encoding";
import { sha256, sha512, sha512_256 } from "@attestd/proof/sha2";
import { expect, test } from "vitest";
import { useNativeSha2 } from "./sha2.ts";

/* NIST's examples of FIPS 180-4 for "abc". */
test.each([
  ["SHA-256", sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"],
  [
    "SHA-512",
    sha512,
    "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
  ],
  ["SHA-512/256", sha512_256, "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23"],
])("the platform's %s, which a service uses, is NIST's, in bytes of its own", (_, hash, digest) => {
  useNativeSha2();
  const found = hash(utf8("abc"));
  expect(toHex(found)).toBe(digest);
  expect(found.constructor).toBe(Uint8Array);
  expect(found.buffer.byteLength).toBe(found.length);
});
