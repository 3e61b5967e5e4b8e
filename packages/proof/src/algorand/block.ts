import { concatBytes, toBase32, utf8 } from "../encoding.ts";
import { malformed } from "../errors.ts";
import { sha512_256 } from "../sha2.ts";
import { decodeMsgpackMap, encodeMsgpack, getInteger, getMap, type MsgpackMap } from "./msgpack.ts";

/** The parts of a block. */
export interface AlgorandBlock {
  header: MsgpackMap;
  /** Canonical msgpack of the header: the block map without `txns`. Its hash is the block's. */
  headerBytes: Uint8Array;
  /** The payset: in-block maps, with the genesis left out (see `restoreTransaction`). */
  transactions: MsgpackMap[];
  /** The certificate by which consensus accepted the block; absent in block 0 and in a bare block. */
  cert: MsgpackMap | undefined;
}

/** Decodes `{block, cert}`, algod's answer to `GET /v2/blocks/{round}?format=msgpack`. @throws ProofError `malformed` */
export function splitBlock(bytes: Uint8Array): AlgorandBlock {
  const answer = decodeMsgpackMap(bytes);
  const block = getMap(answer, "block");
  if (block === undefined) throw malformed("block answer has no block");
  const header = new Map(block);
  header.delete("txns");
  const transactions = block.get("txns") ?? [];
  if (!Array.isArray(transactions) || !transactions.every((entry) => entry instanceof Map))
    throw malformed("block's txns is not an array of maps");
  return { header, headerBytes: encodeMsgpack(header), transactions, cert: getMap(answer, "cert") };
}

/** Returns a block's 32-byte hash: SHA-512/256 of `"BH"` and the canonical msgpack of its header. */
export function headerDigest(headerBytes: Uint8Array): Uint8Array {
  return sha512_256(concatBytes(utf8("BH"), headerBytes));
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
