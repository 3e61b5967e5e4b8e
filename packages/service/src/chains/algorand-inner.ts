import { hash } from "node:crypto";
import { concatBytes, encodeMsgpack, fromBase32, getMap, type MsgpackMap, toBase32, utf8 } from "@attestd/proof";

const TX = utf8("TX");

/**
 * Whether a transaction of a block made, at any depth, the inner transaction of this id.
 *
 * An inner transaction is no leaf of its block. Its id is SHA-512/256 of `"TX"`, the id of the transaction that made
 * it, its place among that one's inner transactions (8 bytes, big-endian) and its own canonical msgpack.
 * Source: go-algorand, `Transaction.InnerID`.
 *
 * @param inBlock the entry of the block's `txns`, or an inner transaction in it
 * @param id the id of `inBlock`
 */
export function hasInner(innerId: string, inBlock: MsgpackMap, id: string): boolean {
  return innerTransactions(inBlock).some((inner, place) => {
    const bytes = encodeMsgpack(getMap(inner, "txn") ?? new Map());
    const ownId = toBase32(hash("sha512-256", concatBytes(TX, fromBase32(id), bigEndian(place), bytes), "buffer"));
    return ownId === innerId || hasInner(innerId, inner, ownId);
  });
}

function innerTransactions(inBlock: MsgpackMap): MsgpackMap[] {
  const delta = getMap(inBlock, "dt");
  const entries = delta?.get("itx");
  return Array.isArray(entries) ? entries.filter((entry) => entry instanceof Map) : [];
}

function bigEndian(place: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(place));
  return bytes;
}
