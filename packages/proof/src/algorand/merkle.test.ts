import { sha256, sha512, sha512_256 } from "@noble/hashes/sha2.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { recordedBlocks, recordedLightHeaders } from "../../test/recorded.ts";
import { vectors } from "../../test/vectors.ts";
import { concatBytes, fromBase64, toBase64, toHex, utf8 } from "../encoding.ts";
import { blockHash, headerDigest, splitBlock } from "./block.ts";
import { lightHeaderLeaf, proveLeaf, type TransactionTree, transactionLeaf, treeRoot, verifyLeaf } from "./merkle.ts";
import { encodeMsgpack, getBytes, type MsgpackValue } from "./msgpack.ts";
import { restoreTransaction, txid } from "./transaction.ts";

const TREES: TransactionTree[] = ["txn", "txn256", "txn512"];
const SIZES = [0, 1, 2, 3, 5, 8, 255, 256, 257];
const HASH = { txn: sha512_256, txn256: sha256, txn512: sha512 };

function leavesOf(tree: TransactionTree, count: number): Uint8Array[] {
  return Array.from({ length: count }, (_, index) => HASH[tree](utf8(`leaf ${index}`)));
}

/** The node's own algorithm, written again: from the leaves up, over a padded array. */
function nodeRoot(tree: TransactionTree, leaves: Uint8Array[]): Uint8Array {
  const hash = HASH[tree];
  const zero = new Uint8Array(tree === "txn512" ? 64 : 32);
  if (tree === "txn" && leaves.length === 0) return zero;
  const depth = leaves.length < 2 ? 0 : (leaves.length - 1).toString(2).length;
  let level = leaves;
  if (tree !== "txn") {
    level = Array.from({ length: 2 ** depth }, (_, place) => {
      const element =
        depth === 0 ? 0 : Number.parseInt([...place.toString(2).padStart(depth, "0")].reverse().join(""), 2);
      return leaves[element] ?? hash(utf8("MB"));
    });
  }
  for (let height = 0; height < depth; height++) {
    const padded = level.length % 2 ? [...level, zero] : level;
    level = padded.flatMap((left, index) => {
      return index % 2 ? [] : [hash(concatBytes(utf8("MA"), left, padded[index + 1] as Uint8Array))];
    });
  }
  return level[0] as Uint8Array;
}

describe.each(TREES)("%s", (tree) => {
  it.each(SIZES)("has the node's root over %i leaves, and proves each of them", (count) => {
    const leaves = leavesOf(tree, count);
    const root = treeRoot(tree, leaves);
    expect(toHex(root)).toBe(toHex(nodeRoot(tree, leaves)));
    const step = Math.max(1, Math.floor(count / 16));
    for (let index = 0; index < count; index += step) {
      const siblings = proveLeaf(tree, leaves, index);
      expect(verifyLeaf(tree, leaves[index] as Uint8Array, index, siblings, root)).toBe(true);
      expect(verifyLeaf(tree, leaves[index] as Uint8Array, index ^ 1, siblings, root)).toBe(false);
      expect(verifyLeaf(tree, leaves[index] as Uint8Array, index + 2 ** siblings.length, siblings, root)).toBe(false);
    }
  });

  it("refuses a proof in which any bit differs", () => {
    const leaves = leavesOf(tree, 5);
    const root = treeRoot(tree, leaves);
    const siblings = proveLeaf(tree, leaves, 3);
    const parts = [leaves[3] as Uint8Array, root, ...siblings];
    fc.assert(
      fc.property(fc.nat(parts.length - 1), fc.nat(255), (part, bit) => {
        const [leaf, top, ...path] = parts.map((bytes, index) => {
          const copy = bytes.slice();
          if (index === part) copy[bit >> 3] = (copy[bit >> 3] as number) ^ (1 << (bit & 7));
          return copy;
        }) as [Uint8Array, Uint8Array, ...Uint8Array[]];
        expect(verifyLeaf(tree, leaf, 3, path, top)).toBe(false);
      }),
    );
  });

  it("refuses paths of another length, siblings of another length and indexes that are none", () => {
    const leaves = leavesOf(tree, 4);
    const root = treeRoot(tree, leaves);
    const siblings = proveLeaf(tree, leaves, 0);
    const leaf = leaves[0] as Uint8Array;
    const tried: [number, Uint8Array[]][] = [
      [0, siblings.slice(1)],
      [0, [...siblings, new Uint8Array(root.length)]],
      [0, siblings.map((sibling) => sibling.slice(1))],
      [-1, siblings],
      [0.5, siblings],
      [4, siblings],
      [0, Array(31).fill(root)],
    ];
    for (const [index, path] of tried) expect(verifyLeaf(tree, leaf, index, path, root)).toBe(false);
  });

  it("proves only what it holds", () => {
    for (const index of [-1, 3, 0.5, Number.NaN])
      expect(() => proveLeaf(tree, leavesOf(tree, 3), index)).toThrow(RangeError);
  });
});

it("a leaf binds the transaction and its in-block map", () => {
  const leaves = TREES.flatMap((tree) => [
    transactionLeaf(tree, utf8("a"), utf8("b")),
    transactionLeaf(tree, utf8("a"), utf8("c")),
    transactionLeaf(tree, utf8("c"), utf8("b")),
  ]);
  expect(new Set(leaves.map(toHex)).size).toBe(9);
  const expected = concatBytes(utf8("TL"), sha256(utf8("TXa")), sha256(utf8("STIBb")));
  expect(toHex(leaves[3] as Uint8Array)).toBe(toHex(sha256(expected)));
  expect(toHex(leaves[6] as Uint8Array)).toBe(toHex(sha512(expected)));
});

/** Splits siblings as algod sends them: concatenated, base64. */
function split(joined: string, length: number): Uint8Array[] {
  const bytes = fromBase64(joined);
  return Array.from({ length: bytes.length / length }, (_, at) => bytes.subarray(at * length, (at + 1) * length));
}

describe("trees of a real node", () => {
  it.each(recordedBlocks)(
    "$consensus: every proof that it gave leads to the header's root, and is made again",
    (of) => {
      const { header, headerBytes, transactions } = splitBlock(fromBase64(of.block));
      expect(blockHash(headerBytes)).toBe(of.blockHash);
      const payset = transactions.map((entry) => ({
        bytes: encodeMsgpack(restoreTransaction(entry, header)),
        stib: encodeMsgpack(entry),
      }));
      for (const { txid: id, unsigned, proofs } of of.transactions) {
        const { bytes, stib } = payset[proofs.sha512_256.idx] as (typeof payset)[number];
        expect(txid(bytes)).toBe(id);
        if (unsigned) expect(toBase64(bytes)).toBe(unsigned);
        for (const [name, tree] of [["sha512_256", "txn"] as const, ["sha256", "txn256"] as const]) {
          const told = proofs[name];
          if (told === undefined) continue;
          expect(toBase64(HASH[tree](concatBytes(utf8("STIB"), stib)))).toBe(told.stibhash);
          const siblings = split(told.proof, 32);
          const root = getBytes(header, tree, 32) as Uint8Array;
          expect(verifyLeaf(tree, transactionLeaf(tree, bytes, stib), told.idx, siblings, root)).toBe(true);
          const leaves = payset.map((one) => transactionLeaf(tree, one.bytes, one.stib));
          expect(proveLeaf(tree, leaves, told.idx)).toEqual(siblings);
        }
      }
    },
  );

  it.each(recordedLightHeaders)("round $round: its light header leads to the state proof's commitment", (of) => {
    const { header, headerBytes } = splitBlock(fromBase64(of.block));
    expect(blockHash(headerBytes)).toBe(of.blockHash);
    const siblings = split(of.lightHeaderProof.proof, 32);
    const commitment = fromBase64(of.stateProofMessage.BlockHeadersCommitment);
    const leads = (leaf: Uint8Array) => verifyLeaf("txn256", leaf, of.lightHeaderProof.index, siblings, commitment);
    expect(leads(lightHeaderLeaf(header, headerDigest(headerBytes)))).toBe(true);
    expect(leads(lightHeaderLeaf(new Map(header).set("txn256", new Uint8Array(32)), headerDigest(headerBytes)))).toBe(
      false,
    );
  });
});

describe("a state proof of MainNet", () => {
  it("covers round 60,000,000 by its light header", () => {
    const { genesisHash, block, proofs } = vectors.json("state-proof/mainnet-60000000.json");
    const header = new Map<string, MsgpackValue>([
      ["gh", fromBase64(genesisHash)],
      ["rnd", block.round],
      ["txn256", fromBase64(block.txn256)],
    ]);
    const { index, proof } = block.lightHeaderProof;
    const commitment = fromBase64(proofs[0].Message.BlockHeadersCommitment);
    const leaf = lightHeaderLeaf(header, fromBase64(block.blockHash));
    expect(verifyLeaf("txn256", leaf, index, split(proof, 32), commitment)).toBe(true);
  });
});

describe("light headers before consensus v39", () => {
  // Encoded by types.LightBlockHeader of github.com/algorand/go-algorand-sdk/v2 v2.12.0, hashed with Go's
  // crypto/sha256.
  const LEAF = "9086981f372f95eedaa63a282de4dc59082182317530ef45f38e42a77fa47090";
  const fill = (byte: number) => new Uint8Array(32).fill(byte);
  const header = (commit: string) =>
    new Map<string, MsgpackValue>([
      ["gh", fill(2)],
      ["proto", `https://github.com/algorandfoundation/specs/tree/${commit}`],
      ["rnd", 23592192],
      ["seed", fill(1)],
      ["tc", 9],
      ["txn256", fill(3)],
    ]);

  it("begin with the seed, of every version that has them", () => {
    const commits = [
      "2dd5435993f6f6d65691140f592ebca5ef19ffbd",
      "433d8e9a7274b6fca703d91213e05c7e6a589e69",
      "44fa607d6051730f5264526bf3c108d51f0eadb6",
      "1ac4dd1f85470e1fb36c8a65520e1313d7dfed5e",
      "abd3d4823c6f77349fc04c3af7b1e99fe4df699f",
    ];
    expect(commits.map((commit) => toHex(lightHeaderLeaf(header(commit), fill(4))))).toEqual(commits.map(() => LEAF));
    expect(toHex(lightHeaderLeaf(header("925a46433742afb0b51bb939354bd907fa88bf95"), fill(4)))).not.toBe(LEAF); // v39
  });

  it.each(["gh", "seed", "txn256"])("are refused without the header's %s", (member) => {
    const bare = header("abd3d4823c6f77349fc04c3af7b1e99fe4df699f");
    bare.delete(member);
    expect(() => lightHeaderLeaf(bare, fill(4))).toThrow(`header has no ${member}`);
  });
});
