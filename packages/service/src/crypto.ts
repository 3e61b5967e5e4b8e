import { createPublicKey, verify } from "node:crypto";
import { type Crypto, type Keccak256, nobleCrypto } from "@attestd/proof/signature";
import { createKeccak } from "hash-wasm";

/** The primitives of the verifier, by the platform where it has them: ML-DSA-65 is ten times faster there. */
export const nativeCrypto: Crypto = {
  ...nobleCrypto,
  mldsa65: {
    verify: (publicKey, message, signature) => {
      const key = createPublicKey({
        key: Buffer.from(publicKey),
        format: "raw-public",
        asymmetricKeyType: "ml-dsa-65",
      });
      return verify(null, message, key, signature);
    },
  },
};

/** Keccak-256 in WebAssembly, four times as fast as the portable one: for whole blocks, and for large transactions. */
export async function wasmKeccak256(): Promise<Keccak256> {
  const hasher = await createKeccak(256);
  return (bytes) => hasher.init().update(bytes).digest("binary");
}
