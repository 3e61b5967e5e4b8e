import { createPublicKey, type KeyObject, verify } from "node:crypto";
import { type Crypto, nobleCrypto } from "@attestd/proof";
import { LRUCache } from "lru-cache";
import { wasmKeccak256 } from "./keccak.ts";

/** The verifier's primitives, taken from the platform if it has them: its ML-DSA-65 is ten times faster. */
export const nativeCrypto: Crypto = {
  ...nobleCrypto,
  mldsa65: { verify: (publicKey, message, signature) => verify(null, message, importKey(publicKey), signature) },
};

/**
 * Returns primitives that accept every ML-DSA-65 signature, for bundles that are not signed yet or were verified when
 * signed.
 */
export function trusting(crypto: Crypto): Crypto {
  return { ...crypto, mldsa65: { verify: () => true } };
}

/** The limit of imported keys besides the attestor's own. */
const MAX_OTHER_KEYS = 64;

/** A service's primitives. They import each frequently used public key only once. */
export interface ServiceCrypto extends Crypto {
  /**
   * Keeps the attestor's own keys imported permanently: other keys cannot displace them. @param publicKeys raw, 1952
   * bytes
   */
  pin(publicKeys: readonly Uint8Array[]): void;
}

/** @param importPublicKey imports a raw ML-DSA-65 public key, 1952 bytes */
export async function serviceCrypto(importPublicKey = importKey): Promise<ServiceCrypto> {
  const own = new Map<string, KeyObject>();
  const others = new LRUCache<string, KeyObject>({ max: MAX_OTHER_KEYS });
  const nameOf = (publicKey: Uint8Array) => Buffer.from(publicKey).toString("latin1");
  const keyOf = (publicKey: Uint8Array): KeyObject => {
    const name = nameOf(publicKey);
    const known = own.get(name) ?? others.get(name);
    if (known) return known;
    const key = importPublicKey(publicKey);
    others.set(name, key);
    return key;
  };
  return {
    keccak256: await wasmKeccak256(),
    mldsa65: { verify: (publicKey, message, signature) => verify(null, message, keyOf(publicKey), signature) },
    pin(publicKeys) {
      for (const publicKey of publicKeys) own.set(nameOf(publicKey), keyOf(publicKey));
    },
  };
}

function importKey(publicKey: Uint8Array): KeyObject {
  return createPublicKey({ key: Buffer.from(publicKey), format: "raw-public", asymmetricKeyType: "ml-dsa-65" });
}
