import { decodeMsgpackMap, encodeMsgpack, getMap, type MsgpackMap, type RawEntry, txid } from "@attestd/proof/algorand";
import { concatBytes, fromBase32 } from "@attestd/proof/encoding";

/**
 * Returns the id of an inner transaction, which is not a leaf of its block: SHA-512/256 of `"TX"`, its parent's id, its
 * index among the parent's inner transactions (8 bytes, big-endian) and its own canonical msgpack. Source: go-algorand,
 * `Transaction.InnerID`.
 */
export function innerIdOf(parentId: string, index: number, transaction: MsgpackMap): string {
  const place = Buffer.alloc(8);
  place.writeBigUInt64BE(BigInt(index));
  return txid(concatBytes(fromBase32(parentId), place, encodeMsgpack(transaction)));
}

/** Yields the ids of a block transaction's inner transactions, at any depth. @throws ProofError `malformed` */
export function innerIdsOf({ hasInner, bytes }: RawEntry, id: string): Iterable<string> {
  return hasInner ? innerIds(decodeMsgpackMap(bytes), id) : [];
}

/**
 * @param inBlock the entry of the block's `txns`, or an inner transaction in it
 * @param id the id of `inBlock`
 */
function* innerIds(inBlock: MsgpackMap, id: string): Generator<string> {
  for (const [index, inner] of innerTransactions(inBlock).entries()) {
    const ownId = innerIdOf(id, index, getMap(inner, "txn") ?? new Map());
    yield ownId;
    yield* innerIds(inner, ownId);
  }
}

function innerTransactions(inBlock: MsgpackMap): MsgpackMap[] {
  const entries = getMap(inBlock, "dt")?.get("itx");
  return Array.isArray(entries) ? entries.filter((entry) => entry instanceof Map) : [];
}
