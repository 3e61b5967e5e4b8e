import { createPrivateKey, createPublicKey, sign } from "node:crypto";
import { promisify } from "node:util";
import { keyIdentity } from "@attestd/proof/attestor";
import { toBase64 } from "@attestd/proof/encoding";

/** The post-quantum half of the attestor's identity. The secret stays inside. */
export interface Signer {
  /** Raw ML-DSA-65 public key, 1952 bytes. */
  readonly publicKey: Uint8Array;
  /** Standard base64 of it. */
  readonly pqPublicKey: string;
  /** RFC 7638 thumbprint of the AKP JWK. */
  readonly kid: string;
  /** Base64url SHA-256 of the raw public key: the note's `a`. */
  readonly keySha256: string;

  /**
   * Signs a message: ML-DSA-65 (FIPS 204), pure, hedged, empty context. Runs off the event loop.
   *
   * @returns the 3309-byte signature
   */
  sign(message: Uint8Array): Promise<Uint8Array>;
}

const signAsync = promisify(sign);

/** @param seed 32 bytes (FIPS 204, ξ) */
export function seedSigner(seed: Uint8Array): Signer {
  const secret = createPrivateKey({ key: Buffer.from(seed), format: "raw-seed", asymmetricKeyType: "ml-dsa-65" });
  const publicKey = createPublicKey(secret).export({ format: "raw-public" });
  return {
    publicKey,
    pqPublicKey: toBase64(publicKey),
    ...keyIdentity(publicKey),
    sign: (message) => signAsync(null, message, secret),
  };
}
