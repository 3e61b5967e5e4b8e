import { fromBase64 } from "../../encoding.ts";
import { attempt } from "../../errors.ts";
import { headerDigest, headerRound } from "../block.ts";
import { lightHeaderLeaf, verifyLeaf } from "../merkle.ts";
import { decodeCanonicalMap, type MsgpackMap } from "../msgpack.ts";
import type { StateProofMessage } from "./message.ts";

/** The most rounds that one state proof attests. On MainNet each attests this many. */
export const MAX_INTERVAL = 256;

/** The depth of the tree of light headers; undefined if no interval has this length. */
export function intervalDepth(interval: number): number | undefined {
  const depth = Math.log2(interval);
  return interval <= MAX_INTERVAL && Number.isInteger(depth) && depth >= 0 ? depth : undefined;
}

/**
 * Whether a message commits to a header: whether the siblings lead from it to `blockHeadersCommitment`. The header's
 * own round gives its position. Trust a message only if `checkStateProof` found no fault.
 * @param header canonical msgpack of the block map without `txns`
 * @param siblings from leaf to root, 32 bytes each
 */
export function commitsToHeader(message: StateProofMessage, header: Uint8Array, siblings: Uint8Array[]): boolean {
  const map = attempt("malformed", () => decodeCanonicalMap(header));
  return map !== undefined && commitsToDecodedHeader(message, { map, bytes: header }, siblings);
}

/** Like `commitsToHeader`, for a decoded header. @param header its map and its canonical bytes */
export function commitsToDecodedHeader(
  message: StateProofMessage,
  { map, bytes }: { map: MsgpackMap; bytes: Uint8Array },
  siblings: Uint8Array[],
): boolean {
  const { firstAttestedRound: first, lastAttestedRound: last } = message;
  if (siblings.length !== intervalDepth(last - first + 1)) return false;
  const found = attempt("malformed", () => {
    return { round: headerRound(map), leaf: lightHeaderLeaf(map, headerDigest(bytes)) };
  });
  const commitment = fromBase64(message.blockHeadersCommitment);
  return found !== undefined && verifyLeaf("txn256", found.leaf, found.round - first, siblings, commitment);
}
