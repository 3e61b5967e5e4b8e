import { describe, expect, it } from "vitest";
import { vectors } from "../../test/vectors.ts";
import { fromBase64, toBase32, toHex } from "../encoding.ts";
import { blockHash, headerDigest, headerRound, splitBlock } from "./block.ts";
import { type TransactionTree, transactionLeaf, treeRoot } from "./merkle.ts";
import { decodeMsgpackMap, encodeMsgpack, getBytes, getMap, type MsgpackValue } from "./msgpack.ts";
import { paysetReader, splitRawBlock } from "./payset.ts";
import { isCanonicalTransaction, restoreTransaction, txid } from "./transaction.ts";

describe("headers of MainNet", () => {
  type Header = { round: number; headerMsgpackBase64: string; hash: string };
  const headers: Header[] = vectors.json("algorand/mainnet/headers-41000000.json");

  it.each(headers)("round $round has its hash", ({ round, headerMsgpackBase64, hash }) => {
    const bytes = fromBase64(headerMsgpackBase64);
    expect(blockHash(bytes)).toBe(hash);
    expect(headerRound(decodeMsgpackMap(bytes))).toBe(round);
  });

  it("each names the hash of the one before", () => {
    const bytes = headers.map((header) => fromBase64(header.headerMsgpackBase64));
    for (const [index, header] of bytes.slice(1).entries())
      expect(getBytes(decodeMsgpackMap(header), "prev", 32)).toEqual(headerDigest(bytes[index] as Uint8Array));
  });
});

describe("blocks of private networks", () => {
  const base64 = (name: string) => fromBase64(vectors.text(`algorand/sandnet/${name}`).replace(/\s/g, ""));
  const blocks = [
    { name: "empty", bytes: base64("v2_algod_GetBlock_header.base64"), ids: [] },
    {
      name: "heartbeat",
      bytes: base64("v2_algod_GetBlock_heartbeat.base64"),
      ids: ["74R4TSHWBBFMMNAX4RC4DFIQE6G5OERAQJFJXTR4YH4MXOIDGRSQ"],
    },
    {
      name: "state proof",
      bytes: base64("v2_algod_GetBlock_transaction.base64"),
      ids: [vectors.json("algorand/sandnet/v2_indexer_lookupBlock_transaction.json").transactions[0].id],
    },
    {
      name: "another state proof",
      bytes: vectors.bytes("algorand/sandnet/stpf_block.block"),
      ids: ["KWYXZLQZODDLXE4DHLTEBDT2SIYUI23G5YJZWG6LME5WJKAIAUXQ"],
    },
  ];

  it.each(blocks)("$name: the certificate is of the header's hash", ({ bytes }) => {
    const { headerBytes, cert } = splitBlock(bytes);
    expect(getBytes(getMap(cert ?? new Map(), "prop") ?? new Map(), "dig")).toEqual(headerDigest(headerBytes));
  });

  it.each(blocks)("$name: restored transactions have their ids", ({ bytes, ids }) => {
    const { header, transactions } = splitBlock(bytes);
    const restored = transactions.map((entry) => encodeMsgpack(restoreTransaction(entry, header)));
    expect(restored.map(txid)).toEqual(ids);
    expect(restored.every(isCanonicalTransaction)).toBe(true);
  });

  it.each(blocks)("$name: transactions that are not decoded have their ids, too", ({ bytes, ids }) => {
    const { header, headerBytes, entries, cert } = splitRawBlock(bytes);
    const reader = paysetReader(header);
    expect(entries.map((entry) => reader.txid(entry))).toEqual(ids);
    expect(entries.map((entry) => txid(reader.transaction(entry)))).toEqual(ids);
    expect(getBytes(getMap(cert ?? new Map(), "prop") ?? new Map(), "dig")).toEqual(headerDigest(headerBytes));
  });

  it.each(blocks)("$name: the payset has the header's roots", ({ bytes }) => {
    const { header, transactions } = splitBlock(bytes);
    const root = (tree: TransactionTree) => {
      const leaves = transactions.map((entry) => {
        return transactionLeaf(tree, encodeMsgpack(restoreTransaction(entry, header)), encodeMsgpack(entry));
      });
      return toHex(treeRoot(tree, leaves));
    };
    expect(root("txn")).toBe(toHex(getBytes(header, "txn") ?? new Uint8Array(32)));
    expect(root("txn256")).toBe(toHex(getBytes(header, "txn256", 32) as Uint8Array));
  });
});

it("splitBlock refuses what is no block", () => {
  const answers: MsgpackValue[] = [
    5,
    new Map(),
    new Map([["block", 1]]),
    new Map([["block", new Map([["txns", [1]]])]]),
  ];
  for (const answer of answers)
    expect(() => splitBlock(encodeMsgpack(answer))).toThrow(
      expect.objectContaining({ name: "ProofError", code: "malformed" }),
    );
});

it("headerRound reads block 0, and refuses what JSON could not carry", () => {
  expect(headerRound(new Map())).toBe(0);
  expect(() => headerRound(new Map([["rnd", 2n ** 53n]]))).toThrow(
    expect.objectContaining({ name: "ProofError", code: "malformed" }),
  );
});

it("blockHash is the digest in base32", () => {
  expect(blockHash(new Uint8Array())).toBe(toBase32(headerDigest(new Uint8Array())));
});
