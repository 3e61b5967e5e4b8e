import {
  baseHeaderHash,
  baseTxHash,
  decodeRlp,
  encodeBaseHeader,
  encodeRlp,
  proveIndex,
  type RlpItem,
  trieRoot,
} from "@attestd/proof/base";
import { concatBytes, fromHex, toBase64, toHex } from "@attestd/proof/encoding";
import { sha256 } from "@noble/hashes/sha2.js";
import { recordedAmsterdamBlock, recordedBaseBlock } from "../../../packages/proof/test/recorded.ts";
import { type TestBlock, testBundle, testInclusionBundle } from "../../../test/bundles/bundles.ts";
import { type Case, fails, is, type Verdict } from "./case.ts";
import { altered, baseBlock, blocks, local, now, ofBase, SANDBOX, transfer, withNote } from "./ingredients.ts";

/** The transfer's bundle, or another, with other bytes, and all that is said of them right. */
const ofBytes = (bytes: Uint8Array, bundle = transfer, by = now.attestor) =>
  altered(
    bundle,
    ({ source, attest }) => {
      const [txnId, hashSha256] = [baseTxHash(bytes), toHex(sha256(bytes))];
      attest.note = attest.note.replace(source.txnId, txnId).replace(source.hashSha256, hashSha256);
      Object.assign(source, { txnId, hashSha256, txnBytesBase64: toBase64(bytes) });
    },
    by,
  );
/** The block's bundle with another header. */
const ofHeader = (fields: RlpItem[]) =>
  altered(baseBlock, ({ block, attest }) => {
    const bytes = encodeRlp(fields);
    const [blockHash, hashSha256] = [baseHeaderHash(bytes), toHex(sha256(bytes))];
    attest.note = attest.note.replace(block.blockHash, blockHash).replace(block.hashSha256, hashSha256);
    Object.assign(block, { blockHash, hashSha256, headerBase64: toBase64(bytes) });
  });
const header = decodeRlp(blocks.base.header) as RlpItem[];

const [NONE, ONE, WORD, ADDRESS] = [new Uint8Array(), Uint8Array.of(1), new Uint8Array(32).fill(9), new Uint8Array(20)];
const typed = (type: number, fields: RlpItem) => concatBytes(Uint8Array.of(type), encodeRlp(fields));
const CHAIN = Uint8Array.of(0x21, 0x05);
const SIGNATURE = [ONE, WORD, WORD];
const LEGACY: RlpItem[] = [ONE, ONE, ONE, ADDRESS, ONE, NONE, Uint8Array.of(27), WORD, WORD];
const DYNAMIC: RlpItem[] = [CHAIN, ONE, ONE, ONE, ONE, ADDRESS, NONE, NONE, [], ...SIGNATURE];
const blob = (chain: Uint8Array) => [chain, ONE, ONE, ONE, ONE, ADDRESS, NONE, NONE, [], ONE, [WORD], ...SIGNATURE];
const DEPOSIT: RlpItem[] = [WORD, ADDRESS, ADDRESS, NONE, NONE, ONE, NONE, NONE];
const nested = (depth: number): RlpItem => (depth === 0 ? [] : [nested(depth - 1)]);

/** By viem, with the chain id 8453 and no sidecar: types of EIP-4844, EIP-7702 and EIP-2930. */
const BLOB = fromHex(
  "03f89182210505843b9aca008502540be400830186a09400000000000000000000000000000000000000aa8080c007e1a0012222222222222222222222222222222222222222222222222222222222222280a04bfd07c8558dfe7952fbd1daf316419a196363ced9933c773d958fd7858207f0a02e63f5c684b13a6c723bd8c9f66e993e95c9b88f646918a8d2ae6310c3782b8c",
);
const [, , ACCESS_LIST, SET_CODE] = recordedBaseBlock.transactions.map((hex) => fromHex(hex.slice(2))) as Uint8Array[];

/** A block of anvil's, of which each transaction and receipt can be proven. */
const anvil = proving(
  encodeBaseHeader(recordedBaseBlock.block),
  recordedBaseBlock.transactions.map((hex) => fromHex(hex.slice(2))),
  recordedBaseBlock.receipts.map((hex) => fromHex(hex.slice(2))),
);
/** A block of go-ethereum's since Amsterdam, its header in go-ethereum's own RLP. */
const amsterdam = proving(
  fromHex(recordedAmsterdamBlock.headerRlp.slice(2)),
  recordedAmsterdamBlock.transactions.map((hex) => fromHex(hex.slice(2))),
  recordedAmsterdamBlock.receipts.map((hex) => fromHex(hex.slice(2))),
);
/** Its fields, with the number of the block of which they become another header. */
const amsterdamFields = (decodeRlp(amsterdam.header) as RlpItem[]).with(8, header[8] as RlpItem);

function proving(head: Uint8Array, transactions: Uint8Array[], receipts: Uint8Array[]): TestBlock {
  const nodes = (items: Uint8Array[], index: number) => proveIndex(items, index).nodes.map(toBase64);
  const receiptOf = (index: number) => {
    return { bytesBase64: toBase64(receipts[index] as Uint8Array), nodes: nodes(receipts, index) };
  };
  const prove = (index: number) =>
    ({ kind: "mpt", index, nodes: nodes(transactions, index), receipt: receiptOf(index) }) as const;
  return { chain: "base", header: head, transactions, prove };
}

/** A block of one transaction, whose receipt is whatever it is. */
function receiptCase(transaction: Uint8Array, receipt: Uint8Array) {
  const head = encodeRlp(header.with(4, trieRoot([transaction])).with(5, trieRoot([receipt])));
  return testInclusionBundle({ ...now, block: proving(head, [transaction], [receipt]) });
}
const RECEIPT: RlpItem[] = [ONE, Uint8Array.of(0x52, 0x08), new Uint8Array(256), []];
const [legacy, deposit, opaque] = [encodeRlp(LEGACY), typed(0x7e, DEPOSIT), Uint8Array.of(0x79, 1, 2)];
const failed: Verdict = { receipt: "failed", warnings: ["transaction_failed"] };

const MALFORMED: [name: string, bytes: Uint8Array][] = [
  ["one byte that begins nothing", Uint8Array.of(0x80)],
  ["bytes that begin nothing", Uint8Array.of(0xbf, 1)],
  ["a type byte before a legacy one", typed(0, LEGACY)],
  ["a legacy one of 10 fields", encodeRlp([...LEGACY, ONE])],
  ["a legacy one of 8 fields", encodeRlp(LEGACY.slice(1))],
  ["a nonce that begins with zero", encodeRlp(LEGACY.with(0, Uint8Array.of(0, 1)))],
  ["a nonce that is 0 as a byte", encodeRlp(LEGACY.with(0, Uint8Array.of(0)))],
  ["a value of 33 bytes", encodeRlp(LEGACY.with(4, new Uint8Array(33).fill(1)))],
  ["a receiver of 19 bytes", encodeRlp(LEGACY.with(3, new Uint8Array(19)))],
  ["a list for data", encodeRlp(LEGACY.with(5, []))],
  ["a chain id of 2^64 in a legacy one", encodeRlp(LEGACY.with(6, Uint8Array.of(2, 0, 0, 0, 0, 0, 0, 0, 35)))],
  ["a chain id of 9 bytes", typed(2, DYNAMIC.with(0, new Uint8Array(9).fill(1)))],
  ["an access list of bytes", typed(2, DYNAMIC.with(8, NONE))],
  ["an item within 33 lists", typed(2, DYNAMIC.with(8, nested(32)))],
  [
    "a malformed item in an access list",
    typed(2, DYNAMIC.with(8, [])).map((byte, at, all) => (all[at] === 0xc0 ? 0xc1 : byte)),
  ],
  ["a blob transaction without a receiver", typed(3, blob(CHAIN).with(5, NONE))],
  ["a blob transaction of 13 fields", typed(3, blob(CHAIN).slice(1))],
  ["a set-code transaction of 12 fields", typed(4, DYNAMIC)],
  ["a deposit without a sender", typed(0x7e, DEPOSIT.with(1, NONE))],
  ["a deposit of 9 fields", typed(0x7e, [...DEPOSIT, NONE])],
  ["trailing bytes", concatBytes(deposit, ONE)],
  ["a length longer than need be", concatBytes(Uint8Array.of(2, 0xf8, 1), Uint8Array.of(0xc0))],
  ["a byte with a prefix", concatBytes(Uint8Array.of(2, 0xc2), Uint8Array.of(0x81, 1))],
  ["no more than a type", Uint8Array.of(2)],
];
const BAD_HEADERS: [name: string, fields: RlpItem[]][] = [
  ["of 14 fields", header.slice(0, 14)],
  ["with a Bloom filter of 255 bytes", header.with(6, new Uint8Array(255))],
  ["with a parent of 31 bytes", header.with(0, WORD.subarray(1))],
  ["with a number that begins with zero", header.with(8, Uint8Array.of(0, 1))],
  ["of number 2^53", header.with(8, Uint8Array.of(0x20, 0, 0, 0, 0, 0, 0))],
  ["with a list for extra data", header.with(12, [])],
  ["with a nonce of 7 bytes", header.with(14, new Uint8Array(7))],
  ["with an access list's hash of 31 bytes", amsterdamFields.with(21, WORD.subarray(1))],
  ["with no access list's hash before its slot", amsterdamFields.with(21, NONE)],
  ["with a slot that begins with zero", amsterdamFields.with(22, Uint8Array.of(0, 1))],
  ["with a list for its slot", amsterdamFields.with(22, [])],
];
const RECEIPTS: [name: string, transaction: Uint8Array, receipt: Uint8Array][] = [
  ["of status 2", legacy, encodeRlp(RECEIPT.with(0, Uint8Array.of(2)))],
  ["with a state root, as before Byzantium", legacy, encodeRlp(RECEIPT.with(0, WORD))],
  ["of another type than its transaction", legacy, typed(2, RECEIPT)],
  ["of another opaque type", opaque, Uint8Array.of(0x78, 1)],
  ["of 5 fields", legacy, encodeRlp([...RECEIPT, NONE])],
  ["of 3 fields", legacy, encodeRlp(RECEIPT.slice(0, 3))],
  ["whose logs are bytes", legacy, encodeRlp(RECEIPT.with(3, NONE))],
  ["of a deposit, with 7 fields", deposit, typed(0x7e, [...RECEIPT, NONE, NONE, NONE])],
];

/** Base's transactions, headers and receipts. */
export const OF_BASE: readonly Case[] = [
  is("base blob transaction (EIP-4844)", ofBase(BLOB)),
  is("base blob transaction of Ethereum, by its own chain id", ofBase(typed(3, blob(ONE)))),
  is("base blob transaction under another chain id", withNote(ofBase(BLOB), "eip155:8453", "eip155:1"), fails("note")),
  is("base set-code transaction (EIP-7702)", ofBase(SET_CODE as Uint8Array)),
  is(
    "base set-code transaction under another chain id",
    withNote(ofBase(SET_CODE as Uint8Array), "8453", "1"),
    fails("note"),
  ),
  is("base access-list transaction (EIP-2930)", ofBase(ACCESS_LIST as Uint8Array)),
  is("base transaction of an opaque type", ofBase(opaque)),
  is("base transaction of no more than an opaque type", ofBase(Uint8Array.of(0x7f))),
  is("base transaction of a chain id of 8 bytes", ofBase(typed(2, DYNAMIC.with(0, new Uint8Array(8).fill(0xff))))),
  is("base transaction with an item within 32 lists", ofBase(typed(2, DYNAMIC.with(8, nested(31))))),
  ...MALFORMED.map(([name, bytes]) => is(`base: ${name}`, ofBytes(bytes), fails("transactionId", "note"))),
  is(
    "base: a malformed transaction on a sandbox's ledger",
    ofBytes(
      encodeRlp(LEGACY.slice(1)),
      testBundle({ attestor: local, ledger: SANDBOX, chain: "base", txnBytes: legacy }),
      local,
    ),
    { ...fails("transactionId", "note"), keys: "sandbox", warnings: ["sandbox"] },
  ),
  is("base header of the first days, of 15 fields", ofHeader(header.slice(0, 15))),
  is("base header since Amsterdam", ofHeader(amsterdamFields)),
  is("base header with fields of a later fork", ofHeader([...amsterdamFields, [ONE], WORD])),
  ...BAD_HEADERS.map(([name, fields]) => is(`base header ${name}`, ofHeader(fields), fails("blockHash", "note"))),
  ...(["succeeded", "failed", "succeeded", "failed", "failed"] as const).map((receipt, index) =>
    is(
      `base inclusion in anvil's block, transaction ${index}, which ${receipt}`,
      testInclusionBundle({ ...now, block: anvil, index }),
      receipt === "failed" ? failed : { receipt },
    ),
  ),
  ...[0, 1, 2].map((index) =>
    is(
      `base inclusion in go-ethereum's block since Amsterdam, transaction ${index}`,
      testInclusionBundle({ ...now, block: amsterdam, index }),
      { receipt: "succeeded" },
    ),
  ),
  is("a receipt of an opaque type", receiptCase(opaque, Uint8Array.of(0x79)), { receipt: "unknown" }),
  is("a deposit's receipt of 4 fields", receiptCase(deposit, typed(0x7e, RECEIPT)), { receipt: "succeeded" }),
  is(
    "a failed deposit's receipt of 6 fields",
    receiptCase(deposit, typed(0x7e, [NONE, ...RECEIPT.slice(1), ONE, ONE])),
    failed,
  ),
  ...RECEIPTS.map(([name, transaction, receipt]) =>
    is(`a receipt ${name}`, receiptCase(transaction, receipt), fails("inclusion")),
  ),
];
