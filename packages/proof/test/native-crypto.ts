import { createPublicKey, verify } from "node:crypto";
import { type Crypto, nobleCrypto } from "../src/signature.ts";

/** ML-DSA-65 by Node, ten times as fast as noble's: for tests that verify by the hundred. */
export const nativeCrypto: Crypto = {
  ...nobleCrypto,
  mldsa65: {
    verify(publicKey, message, signature) {
      const key = createPublicKey({ key: publicKey, format: "raw-public", asymmetricKeyType: "ml-dsa-65" });
      return verify(null, message, key, signature);
    },
  },
};
