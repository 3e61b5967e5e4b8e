import { sha512_256 } from "@noble/hashes/sha2.js";
import { concatBytes, toBase32, utf8 } from "../encoding.ts";
import { malformed } from "../errors.ts";
import { decodeMsgpackMap, encodeMsgpack, getInteger, getMap, type MsgpackMap } from "./msgpack.ts";

const BH = utf8("BH");

/** A block as a node holds it, taken apart. */
export interface AlgorandBlock {
  header: MsgpackMap;
  /** Canonical msgpack of the header: the block map without `txns`. Its hash is the block's. */
  headerBytes: Uint8Array;
  /** The payset: in-block maps, with the genesis left out (see `restoreTransaction`). */
  transactions: MsgpackMap[];
  /** The certificate by which consensus accepted the block; absent in block 0 and in a bare block. */
  cert: MsgpackMap | undefined;
}

/**
 * Takes apart `{block, cert}` as algod answers `GET /v2/blocks/{round}?format=msgpack`.
 * @throws ProofError `malformed` when it has another shape.
 */
export function splitBlock(bytes: Uint8Array): AlgorandBlock {
  const answer = decodeMsgpackMap(bytes);
  const block = getMap(answer, "block");
  if (block === undefined) throw malformed("block answer has no block");
  const header = new Map(block);
  header.delete("txns");
  return { header, headerBytes: encodeMsgpack(header), transactions: payset(block), cert: getMap(answer, "cert") };
}

function payset(block: MsgpackMap): MsgpackMap[] {
  const entries = block.get("txns") ?? [];
  if (!Array.isArray(entries)) throw malformed("block's txns is not an array");
  return entries.map((entry) => {
    if (entry instanceof Map) return entry;
    throw malformed("block entry is not a map");
  });
}

/** A block's 32-byte hash: SHA-512/256 of `"BH"` and the canonical msgpack of its header. */
export function headerDigest(headerBytes: Uint8Array): Uint8Array {
  return sha512_256(concatBytes(BH, headerBytes));
}

/** A block's hash as 52 characters of unpadded base32, without the `blk-` that some answers put before it. */
export function blockHash(headerBytes: Uint8Array): string {
  return toBase32(headerDigest(headerBytes));
}

/** A header's round (`rnd`, absent in block 0). @throws ProofError `malformed` when it exceeds 2^53 - 1. */
export function headerRound(header: MsgpackMap): number {
  const round = Number(getInteger(header, "rnd"));
  if (!Number.isSafeInteger(round)) throw malformed("header's round is not a safe integer");
  return round;
}
