import { fromBase64Url, toBase64, toHex } from "@attestd/proof/encoding";
import { authorisationItem, type Evidence, type EvidenceItem } from "@attestd/proof/evidence";
import type { EvidenceJournal, KeptStake } from "./journal.ts";
import type { SourceHeader, SourceJournal } from "./source-journal.ts";

/** What a bundle's evidence is now. */
export type Sidecar =
  /** All of the attestation's; items on the source's own block may come. Otherwise it will not change any more. */
  | { isWhole: true; mayGrow: boolean; evidence: Evidence }
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
  journal: Pick<EvidenceJournal, "evidence" | "stateProof"> & Pick<SourceJournal, "source">,
  id: string,
  { isDetached }: { isDetached: boolean },
): Promise<Sidecar | undefined> {
  const kept = await journal.evidence(id);
  if (kept === undefined) return undefined;
  const { bundleId, state, round, inclusion, stake } = kept;
  if (state === "waiting" || state === "included") return { isWhole: false, round };
  const source = await journal.source(id);
  const bytesOf = async (sha256: string | undefined) =>
    sha256 === undefined || isDetached ? undefined : journal.stateProof(sha256);
  const content = await bytesOf(stake?.sha256);
  const sourceProof = source?.stake?.sha256;
  const sourceContent = sourceProof === stake?.sha256 ? undefined : await bytesOf(sourceProof);
  // It follows from what is kept, and was found right with it.
  const authorisation = inclusion && authorisationItem(inclusion);
  const items = [
    ...(inclusion ? [inclusion] : []),
    ...(stake ? [stakeItem("algorand-state-proof/1", stake, content)] : []),
    ...(authorisation ? [authorisation] : []),
    ...(source?.header ? itemsOfSource(source.header, source.stake, sourceContent) : []),
  ];
  const mayGrow = source?.state === "waiting" || source?.state === "included";
  return { isWhole: true, mayGrow, evidence: evidenceOf(bundleId, items) };
}

/** @param bundleId base64url SHA-256 of what was signed */
export function evidenceOf(bundleId: string, items: EvidenceItem[]): Evidence {
  return { format: "attestd.evidence/1", bundle: `sha256:${toHex(fromBase64Url(bundleId))}`, items };
}

/**
 * The items that show a source's own block.
 * @param content the state proof, where the item is to have it
 */
export function itemsOfSource(
  { headerBase64, transaction }: SourceHeader,
  stake: KeptStake | undefined,
  content: Uint8Array | undefined,
): EvidenceItem[] {
  const items: EvidenceItem[] = [];
  if (transaction) items.push({ type: "algorand-source-inclusion/1", headerBase64, ...transaction });
  if (stake) items.push(stakeItem("algorand-source-state-proof/1", stake, content));
  return items;
}

/**
 * The item that shows that stake has signed for a header.
 * @param content the state proof, where the item is to have it
 */
export function stakeItem<T extends "algorand-state-proof/1" | "algorand-source-state-proof/1">(
  type: T,
  { sha256: stateProofSha256, siblings, message, checkpoint }: KeptStake,
  content: Uint8Array | undefined,
) {
  const item = { type, siblings: [...siblings], message, stateProofSha256, checkpoint };
  return { ...item, ...(content && { stateProofBase64: toBase64(content) }) };
}
