import { createPublicKey, type KeyObject, verify } from "node:crypto";
import { type Crypto, type Keccak256, nobleCrypto } from "@attestd/proof/signature";

/** The primitives of the verifier, by the platform where it has them: ML-DSA-65 is ten times faster there. */
export const nativeCrypto: Crypto = {
  ...nobleCrypto,
  mldsa65: { verify: (publicKey, message, signature) => verify(null, message, importKey(publicKey), signature) },
};

/** Keys that are kept: those of one attestor over a lifetime, and of some strangers. */
const MOST_KEYS = 64;

/** The primitives of a service, which verifies by the same few keys all day: they are imported once. */
export async function serviceCrypto(): Promise<Crypto> {
  const keys = new Map<string, KeyObject>();
  const keyOf = (publicKey: Uint8Array): KeyObject => {
    const name = Buffer.from(publicKey).toString("latin1");
    const known = keys.get(name);
    if (known) return known;
    const [oldest] = keys.keys();
    if (oldest !== undefined && keys.size >= MOST_KEYS) keys.delete(oldest);
    const key = importKey(publicKey);
    keys.set(name, key);
    return key;
  };
  return {
    keccak256: await wasmKeccak256(),
    mldsa65: { verify: (publicKey, message, signature) => verify(null, message, keyOf(publicKey), signature) },
  };
}

function importKey(publicKey: Uint8Array): KeyObject {
  return createPublicKey({ key: Buffer.from(publicKey), format: "raw-public", asymmetricKeyType: "ml-dsa-65" });
}

/**
 * Keccak-256 in WebAssembly, four times as fast as the portable one: for whole blocks, and for large transactions. The
 * library is large, and loaded only where it is used: on the threads.
 */
export async function wasmKeccak256(): Promise<Keccak256> {
  const { createKeccak } = await import("hash-wasm");
  const hasher = await createKeccak(256);
  return (bytes) => hasher.init().update(bytes).digest("binary");
}
