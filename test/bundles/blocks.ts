import type { Inclusion } from "@attestd/proof";
import {
  ALGORAND_MAINNET_GENESIS_HASH,
  decodeMsgpackMap,
  encodeMsgpack,
  headerDigest,
  lightHeaderLeaf,
  proveLeaf,
  structMap,
  transactionLeaf,
  treeRoot,
} from "@attestd/proof/algorand";
import { encodeQuantity, encodeRlp, proveIndex, trieRoot } from "@attestd/proof/base";
import { fromBase64, toBase64, utf8 } from "@attestd/proof/encoding";
import { sha256 } from "@noble/hashes/sha2.js";
import { keccak_256 } from "@noble/hashes/sha3.js";

/** Small blocks with true commitments, so that every transaction's inclusion can be proven. */
export type TestBlock<C extends string = "algorand" | "base"> = {
  chain: C;
  /** The header's bytes. */
  header: Uint8Array;
  /** The transactions' bytes. */
  transactions: Uint8Array[];
  prove(index: number): Inclusion;
};

const GENESIS_HASH = fromBase64(ALGORAND_MAINNET_GENESIS_HASH);

/** Canonical msgpack of a payment on MainNet. */
export function testPayment(note = "hello"): Uint8Array {
  return encodeMsgpack(structMap({ ...strippedPayment(note), gen: "mainnet-v1.0", gh: GENESIS_HASH }));
}

function strippedPayment(note: string) {
  return {
    amt: 1_000_000,
    fee: 1000,
    fv: 100,
    lv: 200,
    note: utf8(note),
    rcv: sha256(utf8("receiver")),
    snd: sha256(utf8("sender")),
    type: "pay",
  };
}

/**
 * A block of MainNet's genesis, round 256.
 * @param tree the commitments in its header: only `txn`, as in old rounds, or `txn256` too
 */
export function testAlgorandBlock(size: number, tree: "txn" | "txn256" = "txn256"): TestBlock {
  const notes = Array.from({ length: size }, (_, index) => `payment ${index}`);
  const transactions = notes.map(testPayment);
  const entries = notes.map((note) => encodeMsgpack(structMap({ hgi: true, txn: structMap(strippedPayment(note)) })));
  const leaves = (of: "txn" | "txn256") => {
    return transactions.map((bytes, index) => transactionLeaf(of, bytes, entries[index] as Uint8Array));
  };
  const header = encodeMsgpack(
    structMap({
      gen: "mainnet-v1.0",
      gh: GENESIS_HASH,
      rnd: 256,
      tc: size,
      txn: size > 0 ? treeRoot("txn", leaves("txn")) : undefined,
      txn256: tree === "txn256" ? treeRoot("txn256", leaves("txn256")) : undefined,
    }),
  );
  return {
    chain: "algorand",
    header,
    transactions,
    prove: (index) => ({
      kind: "algorand-merkle",
      tree,
      index,
      stibBase64: toBase64(entries[index] as Uint8Array),
      siblings: proveLeaf(tree, leaves(tree), index).map(toBase64),
    }),
  };
}

/** The way from a header to a commitment over an interval of 256 rounds, of which it is the last. */
export function testLightHeader(header: Uint8Array) {
  const leaf = lightHeaderLeaf(decodeMsgpackMap(header), headerDigest(header));
  const leaves = Array.from({ length: 256 }, (_, round) => (round === 255 ? leaf : sha256(utf8(`round ${round}`))));
  const siblings = proveLeaf("txn256", leaves, 255).map(toBase64);
  return { index: 255, interval: 256, commitment: toBase64(treeRoot("txn256", leaves)), siblings };
}

/** An EIP-1559 transaction of chain 8453, its signature made up. */
export function testBaseTransaction(nonce: number): Uint8Array {
  const quantity = encodeQuantity;
  const [to, word, nothing] = [new Uint8Array(20).fill(7), new Uint8Array(32).fill(9), new Uint8Array()];
  const fields = [
    quantity(8453),
    quantity(nonce),
    quantity(1),
    quantity(2),
    quantity(21_000),
    to,
    quantity(5),
    nothing,
  ];
  return Uint8Array.of(2, ...encodeRlp([...fields, [], quantity(1), word, word]));
}

/** A block of Base with a 21-field header, number 46,000,000, and a receipt for each transaction. */
export function testBaseBlock(size: number): TestBlock {
  const transactions = Array.from({ length: size }, (_, index) => testBaseTransaction(index));
  const receipts = transactions.map((_, index) => {
    return Uint8Array.of(
      2,
      ...encodeRlp([encodeQuantity(1), encodeQuantity(21_000 * (index + 1)), new Uint8Array(256), []]),
    );
  });
  const hash = (of: string) => keccak_256(utf8(of));
  const header = encodeRlp([
    ...[hash("parent"), hash("uncles"), new Uint8Array(20), hash("state"), trieRoot(transactions), trieRoot(receipts)],
    ...[new Uint8Array(256), encodeQuantity(0), encodeQuantity(46_000_000), encodeQuantity(30_000_000)],
    ...[
      encodeQuantity(21_000 * size),
      encodeQuantity(1_780_000_000),
      new Uint8Array(17),
      hash("mix"),
      new Uint8Array(8),
    ],
    ...[
      encodeQuantity(1_000_000),
      hash("withdrawals"),
      encodeQuantity(0),
      encodeQuantity(0),
      hash("beacon"),
      hash("requests"),
    ],
  ]);
  return {
    chain: "base",
    header,
    transactions,
    prove: (index) => ({
      kind: "mpt",
      index,
      nodes: proveIndex(transactions, index).nodes.map(toBase64),
      receipt: {
        bytesBase64: toBase64(receipts[index] as Uint8Array),
        nodes: proveIndex(receipts, index).nodes.map(toBase64),
      },
    }),
  };
}
