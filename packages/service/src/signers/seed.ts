import { createPrivateKey, createPublicKey, type KeyObject, sign } from "node:crypto";
import { promisify } from "node:util";
import { keyIdentity } from "@attestd/proof/attestor";
import { toBase64 } from "@attestd/proof/encoding";
import { type FalconKey, falconKey } from "./falcon.ts";
import type { Algorithm, Key, KeyPlace, KeyUse, Signer } from "./signer.ts";

const signAsync = promisify(sign);

/** 32 bytes: FIPS 204's ξ, RFC 8032's private key, or the input of Falcon's seed (falcon.ts). */
export type Seed = { bytes: Uint8Array; algorithm: Algorithm };

/** Makes the place of a key in this process. */
export function seedPlace({ bytes, algorithm }: Seed): KeyPlace {
  let falcon: FalconKey | undefined;
  return {
    words: "the seed in the settings",
    freshMs: 15_000,
    async open(use) {
      if (algorithm !== "falcon-1024") return seedKey(use, bytes);
      falcon = await falconKey(bytes);
      return falcon;
    },
    close: async () => falcon?.close(),
  };
}

/** @param seed 32 bytes */
export function seedKey(use: KeyUse, seed: Uint8Array): Key {
  const secret = importSeed(use, seed);
  return {
    algorithm: use === "pq" ? "ml-dsa-65" : "ed25519",
    publicKey: new Uint8Array(createPublicKey(secret).export({ format: "raw-public" })),
    // ML-DSA-65, which is hedged, takes a millisecond: off the event loop. Ed25519 takes less than the way to another thread.
    sign: use === "pq" ? (message) => signAsync(null, message, secret) : async (message) => sign(null, message, secret),
  };
}

function importSeed(use: KeyUse, seed: Uint8Array): KeyObject {
  const key = Buffer.from(seed);
  return use === "pq"
    ? createPrivateKey({ key, format: "raw-seed", asymmetricKeyType: "ml-dsa-65" })
    : createPrivateKey({ key, format: "raw-private", asymmetricKeyType: "ed25519" });
}

/** Returns the names of a public key. @param publicKey raw ML-DSA-65, 1952 bytes */
export function identityOf(publicKey: Uint8Array): Omit<Signer, "sign"> {
  return { publicKey, pqPublicKey: toBase64(publicKey), ...keyIdentity(publicKey) };
}
