import { type ChainFormat, ProofError } from "@attestd/proof";
import { concatBytes, equalBytes, fromBase64, toHex, utf8 } from "@attestd/proof/encoding";
import { sha256 } from "@noble/hashes/sha2.js";
import { sha3_256 } from "@noble/hashes/sha3.js";
import { base64, constant, integer, list, object } from "../../../../proof/src/json/readers.ts";

/*
 * Orchard, a chain that there is not: its folder in `proof`.
 *
 * A transaction is any bytes after `FRUIT`; its id is `apple` and the hex of the first 20 bytes of its SHA3-256. Also one that
 * failed stands in a block.
 * A header is `ROOT`, the height (8 bytes), the number of transactions (4 bytes), the parent's and the tree's 32 bytes, the
 * time in Unix s (8 bytes; integers big-endian); its hash is `tree` and the hex of its SHA-256 of SHA-256, reversed.
 * The tree: leaf SHA3-256(0x00, transaction), node SHA3-256(0x01, left, right), as deep as its leaves need, empty leaves
 * zero.
 */

const CAIP2 = "orchard:main-1";
const HEADER_LENGTH = 88;
const MAX_DEPTH = 20;

export type OrchardInclusion = { kind: "orchard-path"; index: number; siblings: string[] };

/** Takes a header apart. @throws ProofError */
export function decodeHeader(bytes: Uint8Array): { height: number; count: number; root: Uint8Array; time: number } {
  if (bytes.length !== HEADER_LENGTH || !equalBytes(bytes.subarray(0, 4), utf8("ROOT")))
    throw new ProofError("malformed", "not a header of Orchard");
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const [height, time] = [view.getBigUint64(4), view.getBigUint64(80)].map(Number) as [number, number];
  return { height, count: view.getUint32(12), root: bytes.subarray(48, 80), time };
}

export function leafHash(transaction: Uint8Array): Uint8Array {
  return sha3_256(concatBytes(Uint8Array.of(0), transaction));
}

export function nodeHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  return sha3_256(concatBytes(Uint8Array.of(1), left, right));
}

export function depthOf(count: number): number {
  return Math.ceil(Math.log2(count));
}

export const orchardFormat: ChainFormat<OrchardInclusion> = {
  name: "orchard",
  label: "Orchard",
  caip2: CAIP2,
  transactionId: {
    pattern: /^apple[0-9a-f]{40}$/,
    requestPattern: /^(?:apple|APPLE)[0-9a-fA-F]{40}$/,
    normalize: (id) => id.toLowerCase(),
    description: "apple and 40 hex",
  },
  blockHash: { pattern: /^tree[0-9a-f]{64}$/, description: "tree and 64 hex" },
  terms: { height: "season", transactionBytes: "FRUIT and the payload", headerBytes: "88 bytes that begin with ROOT" },
  levels: ["included", "finalized"],
  transactionsCanFail: true,

  transaction(bytes) {
    if (!equalBytes(bytes.subarray(0, 5), utf8("FRUIT")))
      throw new ProofError("malformed", "not a transaction of Orchard");
    return { txnId: `apple${toHex(sha3_256(bytes).subarray(0, 20))}`, caip2: CAIP2 };
  },

  header(bytes) {
    const { height } = decodeHeader(bytes);
    return { blockHash: `tree${toHex(sha256(sha256(bytes)).reverse())}`, height, caip2: CAIP2 };
  },

  readInclusion: object({
    kind: constant("orchard-path"),
    index: integer(0),
    siblings: list(MAX_DEPTH, base64(32)),
  }),

  checkInclusion({ index, siblings }, transaction, headerBytes) {
    const { count, root } = decodeHeader(headerBytes);
    let hash = leafHash(transaction);
    for (const [depth, text] of siblings.entries()) {
      const sibling = fromBase64(text);
      hash = (index >> depth) % 2 === 0 ? nodeHash(hash, sibling) : nodeHash(sibling, hash);
    }
    if (index < count && siblings.length === depthOf(count) && equalBytes(hash, root)) return [];
    return [{ pointer: "/inclusion", message: "does not lead to the header's root" }];
  },
};
