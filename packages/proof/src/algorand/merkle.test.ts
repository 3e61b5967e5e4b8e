import { sha256, sha512, sha512_256 } from "@noble/hashes/sha2.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { concatBytes, toHex, utf8 } from "../encoding.ts";
import { lightHeaderLeaf, proveLeaf, type TransactionTree, transactionLeaf, treeRoot, verifyLeaf } from "./merkle.ts";
import { encodeMsgpack, type MsgpackValue } from "./msgpack.ts";

const TREES: TransactionTree[] = ["txn", "txn256", "txn512"];
const SIZES = [0, 1, 2, 3, 5, 8, 255, 256, 257];
const HASH = { txn: sha512_256, txn256: sha256, txn512: sha512 };

function leavesOf(tree: TransactionTree, count: number): Uint8Array[] {
  return Array.from({ length: count }, (_, index) => HASH[tree](utf8(`leaf ${index}`)));
}

/** The node's own algorithm, written down anew: from the leaves up, over a padded array. */
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

it("a light header binds block hash, genesis, round and counter", () => {
  const gh = new Uint8Array(32).fill(1);
  const hash = new Uint8Array(32).fill(2);
  const header = new Map<string, MsgpackValue>([
    ["gh", gh],
    ["rnd", 5],
    ["tc", 9],
    ["ts", 1],
  ]);
  const light = new Map<string, MsgpackValue>([
    ["1", hash],
    ["gh", gh],
    ["r", 5],
    ["tc", 9],
  ]);
  const expected = sha256(concatBytes(utf8("B256"), encodeMsgpack(light)));
  expect(toHex(lightHeaderLeaf(header, hash))).toBe(toHex(expected));
  expect(() => lightHeaderLeaf(new Map(), hash)).toThrow("genesis");
});
