import { ALGORAND_MAINNET } from "@attestd/proof";
import { decodeMsgpackMap, encodeMsgpack, headerDigest, structMap } from "@attestd/proof/algorand";
import { encodeNote } from "@attestd/proof/attestor";
import { concatBytes, fromBase64, toBase64, utf8 } from "@attestd/proof/encoding";
import { sha256 } from "@noble/hashes/sha2.js";
import { testAlgorandBlock, testBlockBundle, testBundle, testLightHeader } from "../../../test/bundles/bundles.ts";
import { type Case, fails, is } from "./case.ts";
import {
  altered,
  attestedBy,
  baseBlock,
  baseInclusion,
  block,
  first,
  inclusion,
  lightHeader,
  now,
  ofBytes,
  ofHeader,
  payment,
  proofOf,
  receipt,
  reversed,
  reversedHeader,
  SANDBOX,
  SEED_LEAF,
  second,
  stranger,
  text,
  third,
  transfer,
  v39,
  withAttest,
  withBlock,
  withNote,
  withProof,
  withSource,
} from "./ingredients.ts";

/** What a light header with the header's own `tc` in place of its `txn256` would hash to. */
const countingLeaf = (() => {
  const header = attestedBy(v39, SEED_LEAF).block.headerBase64;
  const members = decodeMsgpackMap(fromBase64(header));
  const [gh, r, tc] = ["gh", "rnd", "tc"].map((name) => members.get(name));
  const light = encodeMsgpack(structMap({ "1": headerDigest(fromBase64(header)), gh, r, tc }));
  return toBase64(sha256(concatBytes(utf8("B256"), light)));
})();

/** Bundles that every verifier refuses, by the check that fails first. */
export const REFUSED: readonly Case[] = [
  // schema
  is(
    "unknown member",
    altered(payment, (copy) => Object.assign(copy, { extra: 1 })),
    fails("schema"),
  ),
  is("unknown member of a receipt", withProof(baseInclusion, { receipt: { ...receipt, extra: 1 } }), fails("schema")),
  is(
    "missing member",
    altered(payment, ({ attest }) => delete (attest as Partial<typeof attest>).round),
    fails("schema"),
  ),
  is("a member twice", text.replace('"round":2500', '"round":2499,"round":2500'), fails("schema")),
  is("a member twice, once escaped", text.replace('"round":2500', '"\\u0072ound":2499,"round":2500'), fails("schema")),
  is("base64 without padding", text.replace(/=+"/, '"'), fails("schema")),
  is("upper-case hex", withSource(payment, { hashSha256: payment.source.hashSha256.toUpperCase() }), fails("schema")),
  is("a round that is text", withAttest(payment, { round: "2500" }), fails("schema")),
  is("a round that is no integer", withAttest(payment, { round: 2500.5 }), fails("schema")),
  is("round 0", withAttest(payment, { round: 0 }), fails("schema")),
  is("a transaction id too short", withAttest(payment, { txnId: payment.attest.txnId.slice(1) }), fails("schema")),
  is(
    "version 2",
    altered(payment, (copy) => Object.assign(copy, { version: 2 })),
    fails("schema"),
  ),
  is(
    "another network",
    altered(payment, (copy) => Object.assign(copy, { network: "algorand-testnet" })),
    fails("schema"),
  ),
  is("another chain than the id's", withSource(payment, { chain: "base" }), fails("schema")),
  is("a chain that is none", withBlock(block, { chain: "toString" }), fails("schema")),
  is(
    "a block of another type",
    altered(block, (copy) => Object.assign(copy, { type: "tx-inclusion" })),
    fails("schema"),
  ),
  is(
    "a type that is none",
    altered(block, (copy) => Object.assign(copy, { type: "toString" })),
    fails("schema"),
  ),
  is(
    "a type that is no text, nor convertible into it",
    altered(block, (copy) => Object.assign(copy, { type: { toString: 1, valueOf: 1 } })),
    fails("schema"),
  ),
  is(
    "a source of another chain than the block",
    altered(inclusion, (copy) => Object.assign(copy, { source: transfer.source })),
    fails("schema"),
  ),
  is("an array", "[]", fails("schema")),
  // keyTrust
  is("a stranger's key", testBundle({ attestor: stranger, round: 2500 }), { failed: ["keyTrust"], status: "unknown" }),
  is("a stranger's key over a block", testBlockBundle({ attestor: stranger, round: 2500 }), {
    failed: ["keyTrust"],
    status: "unknown",
  }),
  is("retired key after its rounds", testBundle({ attestor: first, round: 1000 }), {
    failed: ["keyTrust"],
    status: "retired",
  }),
  is("current key before its rounds", testBundle({ attestor: third, round: 1999 }), fails("keyTrust")),
  is("revoked key before its revocation", testBundle({ attestor: second, round: 1200 }), {
    failed: ["keyTrust"],
    status: "revoked",
  }),
  is("revoked key after its revocation", testBundle({ attestor: second, round: 1700 }), {
    failed: ["keyTrust"],
    status: "revoked",
  }),
  is(
    "another account",
    altered(payment, ({ attestor }) => Object.assign(attestor, { algorandAddress: stranger.algorandAddress })),
    fails("keyTrust"),
  ),
  // signature
  is("a changed round", { ...payment, attest: { ...payment.attest, round: 2501 } }, fails("signature")),
  is("another bundle's signature", { ...payment, signature: transfer.signature }, fails("signature")),
  is(
    "a stranger's signature",
    altered(payment, () => undefined, stranger),
    fails("signature"),
  ),
  is("a changed round over a block", { ...block, attest: { ...block.attest, round: 2501 } }, fails("signature")),
  is(
    "a changed round over an inclusion",
    { ...inclusion, attest: { ...inclusion.attest, round: 2501 } },
    fails("signature"),
  ),
  // hashPreimage
  is("another SHA-256", withSource(payment, { hashSha256: "0".repeat(64) }), fails("hashPreimage")),
  is("another SHA-256 of the header", withBlock(block, { hashSha256: "0".repeat(64) }), fails("hashPreimage")),
  // transactionId
  is("another transaction's id", withSource(payment, { txnId: inclusion.source.txnId }), fails("transactionId")),
  is(
    "another Base transaction's id",
    withSource(transfer, { txnId: baseInclusion.source.txnId }),
    fails("transactionId"),
  ),
  is("other bytes", withSource(payment, { txnBytesBase64: "AAAA" }), fails("hashPreimage", "transactionId", "note")),
  is(
    "bytes of another chain",
    withSource(payment, { txnBytesBase64: transfer.source.txnBytesBase64 }),
    fails("hashPreimage", "transactionId", "note"),
  ),
  is("members out of order in msgpack", ofBytes(reversed), fails("transactionId", "note")),
  is(
    "another transaction in an inclusion",
    altered(inclusion, (copy) => Object.assign(copy, { source: payment.source })),
    fails("inclusion"),
  ),
  // blockHash
  is("another height", withBlock(block, { height: 257 }), fails("blockHash")),
  is("another height, of Base", withBlock(baseBlock, { height: 1 }), fails("blockHash")),
  is("another block's hash", withBlock(block, { blockHash: inclusion.source.txnId }), fails("blockHash")),
  is("members out of order in a header", ofHeader(reversedHeader), fails("blockHash", "note")),
  is(
    "another header",
    withBlock(block, { headerBase64: baseBlock.block.headerBase64 }),
    fails("hashPreimage", "blockHash", "note"),
  ),
  // inclusion
  is("another index", withProof(inclusion, { index: 2 }), fails("inclusion")),
  is("an index beyond the tree", withProof(inclusion, { index: 11 }), fails("inclusion")),
  is("the weaker tree", withProof(inclusion, { tree: "txn" }), fails("inclusion")),
  is("another entry of the block", withProof(inclusion, { stibBase64: "gA==" }), fails("inclusion")),
  is("a sibling too few", withProof(inclusion, { siblings: proofOf(inclusion).siblings.slice(1) }), fails("inclusion")),
  is(
    "siblings out of order",
    withProof(inclusion, { siblings: proofOf(inclusion).siblings.toReversed() }),
    fails("inclusion"),
  ),
  is(
    "a light header of another index",
    withProof(inclusion, { lightHeader: { ...lightHeader, index: 254 } }),
    fails("inclusion"),
  ),
  is(
    "a light header of another interval",
    withProof(inclusion, { lightHeader: { ...lightHeader, interval: 512 } }),
    fails("inclusion"),
  ),
  is(
    "a light header of another block",
    withProof(inclusion, { lightHeader: testLightHeader(testAlgorandBlock(4).header) }),
    fails("inclusion"),
  ),
  is("a light header by its seed since consensus v39", attestedBy(v39, SEED_LEAF), fails("inclusion")),
  is("a light header that counts transactions", attestedBy(v39, countingLeaf), fails("inclusion")),
  is(
    "a light header with a commitment too short",
    withProof(inclusion, { lightHeader: { ...lightHeader, commitment: "AAAA" } }),
    fails("schema"),
  ),
  is("another index in Base", withProof(baseInclusion, { index: 151 }), fails("inclusion")),
  is(
    "a node too few",
    withProof(baseInclusion, { nodes: proofOf(baseInclusion).nodes.slice(0, -1) }),
    fails("inclusion"),
  ),
  is(
    "a node too many",
    withProof(baseInclusion, { nodes: [...proofOf(baseInclusion).nodes, "wA=="] }),
    fails("inclusion"),
  ),
  is(
    "nodes out of order",
    withProof(baseInclusion, { nodes: proofOf(baseInclusion).nodes.toReversed() }),
    fails("inclusion"),
  ),
  is("no nodes", withProof(baseInclusion, { nodes: [] }), fails("inclusion")),
  is("another receipt", withProof(baseInclusion, { receipt: { ...receipt, bytesBase64: "AsA=" } }), fails("inclusion")),
  is(
    "a receipt by the transaction's nodes",
    withProof(baseInclusion, { receipt: { ...receipt, nodes: proofOf(baseInclusion).nodes } }),
    fails("inclusion"),
  ),
  // note
  is("a note for another ledger", withNote(payment, /"g":"[^"]*"/, `"g":"${SANDBOX}"`), {
    ...fails("note"),
    warnings: ["sandbox"],
  }),
  is("sandbox, by MainNet's keys", testBundle({ ...now, ledger: SANDBOX }), {
    ...fails("note"),
    warnings: ["sandbox"],
  }),
  is("a note of another source chain", withNote(transfer, "eip155:8453", "eip155:1"), fails("note")),
  is("a note of another hash", withNote(payment, /"h":"../, '"h":"00'), fails("note")),
  is("a note of another transaction", withNote(payment, /"t":"../, '"t":"AA'), fails("note")),
  is(
    "a note of another key",
    altered(
      payment,
      (copy) => {
        copy.attestor = { algorandAddress: first.algorandAddress, pqPublicKey: toBase64(first.publicKey) };
        copy.attest.round = 500;
      },
      first,
    ),
    { failed: ["note"], status: "retired" },
  ),
  is("a note of another level than Algorand's", withNote(payment, "finalized", "safe"), fails("note")),
  is("a note of a level that is none", withNote(transfer, "finalized", "probably"), fails("note")),
  is("a note with white space", withNote(payment, ",", ", "), fails("note")),
  is("a note with a member more", withNote(payment, "}", ',"z":1}'), fails("note")),
  is("a note without its prefix", withNote(payment, "attestd/v1:j", ""), fails("note")),
  is(
    "a note of a key",
    withAttest(payment, { note: encodeNote({ g: ALGORAND_MAINNET, k: "0".repeat(64) }) }),
    fails("note"),
  ),
  ...Object.entries({
    "without the block": withNote(payment, /"b":"[^"]*",/, ""),
    "of a block whose hash is too short": withNote(payment, /"b":"./, '"b":"'),
    "of a block of another chain": withNote(payment, /"b":"[^"]*"/, `"b":"0x${"b1".repeat(32)}"`),
    "of a Base block in upper case": withNote(transfer, "b10cb10c", "B10CB10C"),
    "of a Base block of Algorand's form": withNote(transfer, /"b":"[^"]*"/, `"b":"${"BLOCK".repeat(10)}AA"`),
    "of a block whose hash has unused bits": withNote(payment, 'AA","c"', 'AB","c"'),
    "of a block that is a number": withNote(payment, /"b":"[^"]*"/, '"b":1'),
    "without the height": withNote(payment, '"n":46580000,', ""),
    "of a height that is text": withNote(payment, '"n":46580000', '"n":"46580000"'),
    "of a height below 0": withNote(payment, '"n":46580000', '"n":-1'),
    "of half a height": withNote(payment, '"n":46580000', '"n":1.5'),
    "of a height of 2^53": withNote(payment, '"n":46580000', '"n":9007199254740992'),
    "of a height with a zero before it": withNote(payment, '"n":4', '"n":04'),
    "without the time": withNote(payment, ',"u":1780000000', ""),
    "of a time that is text": withNote(payment, '"u":1780000000', '"u":"1780000000"'),
    "of a time with a fraction": withNote(payment, '"u":1780000000', '"u":1780000000.5'),
    "of a time in another spelling": withNote(payment, '"u":1780000000', '"u":1.78e9'),
    "of a time before 1970": withNote(payment, '"u":1780000000', '"u":-1'),
    "of no time": withNote(payment, '"u":1780000000', '"u":null'),
    "of Base without the outcome": withNote(transfer, '"s":1,', ""),
    "of an outcome that is neither 0 nor 1": withNote(transfer, '"s":1', '"s":2'),
    "of an outcome that is text": withNote(transfer, '"s":1', '"s":"1"'),
    "of an outcome that is true": withNote(transfer, '"s":1', '"s":true'),
    "of Algorand with an outcome": withNote(payment, ',"t":', ',"s":1,"t":'),
    "of Algorand with a failure": withNote(payment, ',"t":', ',"s":0,"t":'),
  }).map(([what, bundle]) => is(`a note ${what}`, bundle, fails("note"))),
  is("a block's note with a time", withNote(block, /\}$/, ',"u":1780000000}'), fails("note")),
  is("an inclusion's note with an outcome", withNote(baseInclusion, /\}$/, ',"s":1}'), {
    ...fails("note"),
    receipt: "succeeded",
  }),
  is("a transaction's note over a block", withAttest(block, { note: payment.attest.note }), fails("note")),
  is("a note of another height", withNote(block, '"n":256', '"n":257'), fails("note")),
  is("a note of another block", withNote(block, /"b":"../, '"b":"AA'), fails("note")),
  // More than one
  is(
    "a stranger's key and a changed round",
    { ...testBundle({ attestor: stranger }), attest: payment.attest },
    {
      failed: ["keyTrust", "signature", "note"],
      status: "unknown",
    },
  ),
];
