import { identityOf, seedKey } from "../src/signers/seed.ts";
import type { Signer } from "../src/signers/signer.ts";

/** The signer of a seed of 32 bytes, without the guard of `openSigners`. */
export function seedSigner(seed: Uint8Array): Signer {
  const key = seedKey("pq", seed);
  return { ...identityOf(key.publicKey), sign: key.sign };
}
