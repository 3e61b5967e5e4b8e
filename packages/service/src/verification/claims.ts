import { chainOf, parseBundle, signedPart, type VerifyReport } from "@attestd/proof";

/** The members of a bundle that its chains can confirm, without its proof, which may be large. */
export type Claims = ReturnType<typeof claimsIn>;

/** @param body of a bundle that verifies, or fails only because its key is revoked @param report of it */
export function claimsIn(body: Uint8Array, { type, statement }: VerifyReport) {
  const bundle = parseBundle(body);
  const { attest, attestor } = signedPart(bundle);
  return {
    type,
    chain: chainOf(bundle).name,
    ...("source" in bundle && { source: bundle.source }),
    // The statement about `source`.
    ...(statement && { statement }),
    ...("block" in bundle && { block: bundle.block }),
    attest,
    attestor,
  };
}
