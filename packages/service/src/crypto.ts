import { verify } from "node:crypto";
import { type Crypto, nobleCrypto } from "@attestd/proof/crypto";

/** The primitives of the verifier, by the platform where it has them: ML-DSA-65 is ten times faster there. */
export const nativeCrypto: Crypto = {
  ...nobleCrypto,
  mldsa65: {
    verify: (publicKey, message, signature) =>
      verify(
        null,
        message,
        { key: Buffer.from(publicKey), format: "raw-public", asymmetricKeyType: "ml-dsa-65" },
        signature,
      ),
  },
};
