import { decodeMsgpack, decodeMsgpackMap, encodeMsgpack, paysetReader, splitRawBlock } from "@attestd/proof/algorand";
import { fromBase64, fromBase64Url, toBase64, toHex } from "@attestd/proof/encoding";
import type {
  AlgorandInclusionItem,
  AlgorandSourceInclusionItem,
  Evidence,
  EvidenceItem,
} from "@attestd/proof/evidence";
import type { EvidenceJournal, Inclusion, KeptStake } from "./journal.ts";

/** What a bundle's evidence is now. */
export type EvidenceFile =
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
export async function evidenceFileOf(
  journal: Pick<EvidenceJournal, "evidence" | "stateProof">,
  id: string,
  { isDetached }: { isDetached: boolean },
): Promise<EvidenceFile | undefined> {
  const record = await journal.evidence("record", id);
  if (record === undefined) return undefined;
  const { round, block, inclusion } = record;
  if (block === undefined || block.state === "open") return { isWhole: false, round };
  const source = await journal.evidence("source", id);
  const { stake } = block;
  const bytesOf = async (sha256: string | undefined) =>
    sha256 === undefined || isDetached ? undefined : journal.stateProof(sha256);
  const content = await bytesOf(stake?.sha256);
  const sourceProof = source?.block?.stake?.sha256;
  const sourceContent = sourceProof === stake?.sha256 ? undefined : await bytesOf(sourceProof);
  const items: EvidenceItem[] = [];
  const own = inclusion && recordItem(block.headerBase64, inclusion);
  if (own) items.push(own);
  if (stake) items.push(stakeItem("algorand-state-proof/1", stake, content));
  // Not loaded before: it verifies Falcon signatures, whose tables take 15 ms of a start.
  const { authorisationItem } = await import("@attestd/proof/evidence");
  const authorisation = own && authorisationItem(own);
  if (authorisation) items.push(authorisation);
  if (source?.block) items.push(...itemsOfSource(source.block, source.inclusion, sourceContent));
  const mayGrow = source?.state === "waiting" || source?.block?.state === "open";
  return { isWhole: true, mayGrow, evidence: evidenceOf(record.id, items) };
}

/** @param bundleId base64url SHA-256 of what was signed */
export function evidenceOf(bundleId: string, items: EvidenceItem[]): Evidence {
  return { format: "attestd.evidence/1", bundle: `sha256:${toHex(fromBase64Url(bundleId))}`, items };
}

/** The item that shows a record. The transaction follows from the block's entry and its header, which has the genesis. */
export function recordItem(headerBase64: string, inclusion: Inclusion): AlgorandInclusionItem {
  const entry = decodeMsgpack(fromBase64(inclusion.stibBase64));
  const ofOne = decodeMsgpackMap(fromBase64(headerBase64)).set("txns", [entry]);
  const { header, entries } = splitRawBlock(encodeMsgpack(new Map([["block", ofOne]])));
  const [transaction] = entries.map(paysetReader(header).transaction);
  const txnBytesBase64 = toBase64(transaction ?? new Uint8Array());
  return { type: "algorand-inclusion/1", txnBytesBase64, headerBase64, ...inclusion };
}

/**
 * The items that show a source's own block.
 * @param content the state proof, where the item is to have it
 */
export function itemsOfSource(
  { headerBase64, stake }: { headerBase64: string; stake?: KeptStake | undefined },
  inclusion: Inclusion | undefined,
  content: Uint8Array | undefined,
): EvidenceItem[] {
  const items: EvidenceItem[] = [];
  if (inclusion) {
    const item: AlgorandSourceInclusionItem = { type: "algorand-source-inclusion/1", headerBase64, ...inclusion };
    items.push(item);
  }
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
