import { toBase64 } from "@attestd/proof/encoding";
import { authorisationItem, type Evidence } from "@attestd/proof/evidence";
import type { EvidenceJournal } from "./journal.ts";

/** What a bundle's evidence is now. */
export type Sidecar =
  /** It will not change any more. */
  | { isWhole: true; evidence: Evidence }
  /** In which the attestation stands. */
  | { isWhole: false; round: number };

/**
 * The evidence of a delivered bundle (docs/format.md). Of an attestation that no state proof will ever attest it is the
 * inclusion alone.
 *
 * @param id of the bundle, or of an item of a batch: base64url SHA-256 of its canonical bytes
 * @param isDetached whether the state proof itself is left out
 * @returns undefined when there is no such bundle
 */
export async function sidecarOf(
  journal: Pick<EvidenceJournal, "evidence" | "stateProof">,
  id: string,
  { isDetached }: { isDetached: boolean },
): Promise<Sidecar | undefined> {
  const kept = await journal.evidence(id);
  if (kept === undefined) return undefined;
  const { bundleId, state, round, inclusion, stateProof } = kept;
  if (state === "waiting" || state === "included") return { isWhole: false, round };
  const content = stateProof && !isDetached ? await journal.stateProof(stateProof.stateProofSha256) : undefined;
  // It follows from what is kept, and was found right with it.
  const authorisation = inclusion && authorisationItem(inclusion);
  const items = [
    ...(inclusion ? [inclusion] : []),
    ...(stateProof ? [{ ...stateProof, ...(content && { stateProofBase64: toBase64(content) }) }] : []),
    ...(authorisation ? [authorisation] : []),
  ];
  const bundle = `sha256:${Buffer.from(bundleId, "base64url").toString("hex")}`;
  return { isWhole: true, evidence: { format: "attestd.evidence/1", bundle, items } };
}
