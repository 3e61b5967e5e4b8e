import { hash } from "node:crypto";
import { type Hash, useSha2 } from "@attestd/proof/sha2";

/** Makes `@attestd/proof` use the platform's SHA-2 in this thread. */
export function useNativeSha2(): void {
  useSha2({ sha256: native("sha256"), sha512: native("sha512"), sha512_256: native("sha512-256") });
}

function native(algorithm: string): Hash {
  return (bytes) => {
    const digest = hash(algorithm, bytes, "buffer");
    return new Uint8Array(digest.buffer, digest.byteOffset, digest.length);
  };
}
