import { chainOf, parseBundle, signedPart, type VerifyReport } from "@attestd/proof";
import type { Claims } from "./worker-pool.ts";

/** @param body of a bundle that verifies, or fails only because its key is revoked @param report of it */
export function claimsIn(body: Uint8Array, { type, statement }: VerifyReport): Claims {
  const bundle = parseBundle(body);
  const { attest, attestor } = signedPart(bundle);
  return {
    type,
    chain: chainOf(bundle).name,
    ...("source" in bundle && { source: bundle.source }),
    ...(statement && { statement }),
    ...("block" in bundle && { block: bundle.block }),
    attest,
    attestor,
  };
}
