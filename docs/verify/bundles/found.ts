import type { InclusionBundle } from "@attestd/proof";
import {
  blockHash,
  decodeMsgpackMap,
  encodeMsgpack,
  type MsgpackMap,
  structMap,
  transactionLeaf,
  txid,
} from "@attestd/proof/algorand";
import { decodeRlpList, encodeRlp, type RlpItem } from "@attestd/proof/base";
import { toBase64, toHex, utf8 } from "@attestd/proof/encoding";
import { sha256 } from "@noble/hashes/sha2.js";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { testInclusionBundle } from "../../../test/bundles/bundles.ts";
import { type Case, fails, is } from "./case.ts";
import {
  altered,
  attestedBy,
  blocks,
  inclusion,
  legacy,
  now,
  ofBytes,
  ofHeader,
  payment,
  reversedHeader,
  v38,
  withNote,
} from "./ingredients.ts";

/* One bundle of each kind that verifiers once judged differently, as npm run fuzz:verify found them. */

/** The inclusion with another header, and all that is said of it right. */
function inHeader(bytes: Uint8Array): InclusionBundle {
  return altered(inclusion, ({ block, attest }) => {
    const [hash, hashSha256] = [blockHash(bytes), toHex(sha256(bytes))];
    attest.note = attest.note.replace(block.blockHash, hash).replace(block.hashSha256, hashSha256);
    Object.assign(block, { blockHash: hash, hashSha256, headerBase64: toBase64(bytes) });
  });
}

/** `{type: "pay", z\x99: false}`: false is what a struct leaves out. */
const unnamed = Uint8Array.of(0x82, 0xa4, ...utf8("type"), 0xa3, ...utf8("pay"), 0xa2, 0x7a, 0x99, 0xc2);

/** The header with other members. */
function headerWith(members: Readonly<Record<string, MsgpackMember>>): Uint8Array {
  return encodeMsgpack(new Map([...decodeMsgpackMap(blocks.algorand.header), ...Object.entries(members)]));
}
type MsgpackMember = MsgpackMap extends Map<unknown, infer Member> ? Member : never;

/** A block of one transaction that is none of Algorand's: it has no type. */
const typeless = encodeMsgpack(structMap({ fee: 1000, fv: 1, lv: 2 }));
const stib = encodeMsgpack(structMap({ sig: new Uint8Array(64).fill(7) }));
const inTypelessBlock = altered(
  inHeader(headerWith({ txn256: transactionLeaf("txn256", typeless, stib) })),
  ({ source, inclusion: proof }) => {
    const hashSha256 = toHex(sha256(typeless));
    Object.assign(source, { txnId: txid(typeless), hashSha256, txnBytesBase64: toBase64(typeless) });
    Object.assign(proof, { index: 0, stibBase64: toBase64(stib), siblings: [] });
  },
);

/** The first transaction of a block whose trie has these nodes, from the root to the leaf. */
function underNodes(transaction: Uint8Array, nodes: Uint8Array[]): InclusionBundle {
  const fields = decodeRlpList(blocks.base.header).with(4, keccak_256(nodes[0] as Uint8Array));
  const prove = () => ({ kind: "mpt" as const, index: 0, nodes: nodes.map(toBase64) });
  const block = { chain: "base" as const, header: encodeRlp(fields), transactions: [transaction], prove };
  return testInclusionBundle({ ...now, block });
}
const txn = legacy(Uint8Array.of(27));
/** Under `80`, the key of the first transaction: all of it, and what is left behind a branch. */
const [leaf, leafBehind8] = [
  [Uint8Array.of(0x20, 0x80), txn],
  [Uint8Array.of(0x30), txn],
] as const;
const extensionOf = (path: number) => encodeRlp([Uint8Array.of(path), keccak_256(encodeRlp([...leaf]))]);
const branchOf = (held: RlpItem) => encodeRlp(Array<RlpItem>(17).fill(new Uint8Array()).with(8, held));

/** SHA-256 of "B256" and the light header of v34 to v38, but without a seed. */
const members = decodeMsgpackMap(blocks.algorand.header);
const seedless = encodeMsgpack(structMap({ gh: members.get("gh"), r: members.get("rnd"), tc: members.get("txn256") }));
const seedlessLeaf = toBase64(sha256(Uint8Array.of(...utf8("B256"), ...seedless)));
export const FOUND: readonly Case[] = [
  is("an Algorand header with txns, whose members are not checked", ofHeader(headerWith({ txns: [] }))),
  is("a malformed transaction in a block, by an inclusion", inTypelessBlock, fails("transactionId")),
  is("a light header of v38 without a seed", attestedBy(v38, seedlessLeaf, {}), fails("inclusion")),
  is(
    "base: a trie of a branch and a leaf",
    underNodes(txn, [branchOf(keccak_256(encodeRlp([...leafBehind8]))), encodeRlp([...leafBehind8])]),
  ),
  is(
    "base: a held node of 32 bytes or more",
    underNodes(txn, [branchOf([...leafBehind8]), encodeRlp([...leafBehind8])]),
    fails("inclusion"),
  ),
  is("base: an extension of no path", underNodes(txn, [extensionOf(0), encodeRlp([...leaf])]), fails("inclusion")),
  is("an inclusion in a header out of order", inHeader(reversedHeader), fails("blockHash", "inclusion", "note")),
  is("an empty member whose name is not UTF-8", ofBytes(unnamed), fails("transactionId", "note")),
  // Canonical JSON leaves these as they are; some writers escape them, and have another signature.
  is("a note with separators of lines", withNote(payment, /$/, "\u2028\u2029"), fails("note")),
  is("a note with letters that HTML escapes", withNote(payment, /$/, "<>&\u007f"), fails("note")),
  is("a note with control characters", withNote(payment, /$/, "\b\f\n\r\t\u0001"), fails("note")),
];
