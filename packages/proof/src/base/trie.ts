import { keccak_256 } from "@noble/hashes/sha3.js";
import { equalBytes } from "../encoding.ts";
import { attempt, malformed } from "../errors.ts";
import type { Keccak256 } from "../signature.ts";
import { decodeRlpList, encodeQuantity, encodeRlp, type RlpItem } from "./rlp.ts";

/*
 * The Merkle-Patricia tries of a block's transactions and receipts (Ethereum yellow paper, appendix D): item i stands under
 * the key rlp(i). All keys are known in their order, so the trie is built once, over ranges of them, from the root down.
 */

export type IndexProof = {
  root: Uint8Array;
  /** RLP of every node from root to leaf, a node that its parent holds whole included. */
  nodes: Uint8Array[];
};

/** The root of the trie over transactions or receipts (EIP-2718) in block order. */
export function trieRoot(items: readonly Uint8Array[], keccak256: Keccak256 = keccak_256): Uint8Array {
  return build(items, -1, keccak256).root;
}

/** The root, and the proof of the item at `index`, from 0. @throws RangeError when there is no such item */
export function proveIndex(items: readonly Uint8Array[], index: number, keccak256: Keccak256 = keccak_256): IndexProof {
  if (!Number.isInteger(index) || index < 0 || index >= items.length) throw new RangeError(`no item ${index}`);
  return build(items, index, keccak256);
}

const HASH_LENGTH = 32;
const EMPTY = new Uint8Array();
const BRANCH_WIDTH = 16;

type Entry = { nibbles: Uint8Array; item: Uint8Array };

function build(items: readonly Uint8Array[], proven: number, keccak256: Keccak256): IndexProof {
  const order = sortedIndexes(items.length);
  const entries = order.map((index): Entry => ({ nibbles: keyNibbles(index), item: items[index] as Uint8Array }));
  const place = order.indexOf(proven);
  const leafToRoot: Uint8Array[] = [];

  /** The node over the entries from `start` to before `end`, which share their first `depth` nibbles. */
  function node(start: number, end: number, depth: number): RlpItem[] {
    const { nibbles, item } = entries[start] as Entry;
    if (end - start === 1) return [encodePath(nibbles.subarray(depth), true), item];
    const shared = sharedDepth(nibbles, (entries[end - 1] as Entry).nibbles, depth);
    if (shared > depth) return [encodePath(nibbles.subarray(depth, shared), false), reference(start, end, shared)];
    return branch(start, end, depth);
  }

  function branch(start: number, end: number, depth: number): RlpItem[] {
    // The slot for a value stays empty: no rlp(i) is the beginning of another.
    const slots: RlpItem[] = Array(BRANCH_WIDTH + 1).fill(EMPTY);
    for (let from = start, to = start; from < end; from = to) {
      const nibble = entries[from]?.nibbles[depth] as number;
      while (to < end && entries[to]?.nibbles[depth] === nibble) to++;
      slots[nibble] = reference(from, to, depth + 1);
    }
    return slots;
  }

  /** What a parent holds of a node: its hash, or the node itself where that is shorter. */
  function reference(start: number, end: number, depth: number): RlpItem {
    const named = node(start, end, depth);
    const rlp = encode(named, start, end);
    return rlp.length < HASH_LENGTH ? named : keccak256(rlp);
  }

  function encode(node: RlpItem[], start: number, end: number): Uint8Array {
    const rlp = encodeRlp(node);
    if (start <= place && place < end) leafToRoot.push(rlp);
    return rlp;
  }

  const { length } = entries;
  const root = keccak256(length === 0 ? encodeRlp(EMPTY) : encode(node(0, length, 0), 0, length));
  return { root, nodes: leafToRoot.reverse() };
}

/** 0 … n-1 in the order of their keys: rlp(0) is 0x80, which stands between rlp(127) and rlp(128). */
function sortedIndexes(length: number): number[] {
  const indexes = Array.from({ length }, (_, index) => index);
  return [...indexes.slice(1, 128), ...indexes.slice(0, 1), ...indexes.slice(128)];
}

function keyNibbles(index: number): Uint8Array {
  return toNibbles(encodeRlp(encodeQuantity(index)));
}

function toNibbles(bytes: Uint8Array): Uint8Array {
  const nibbles = new Uint8Array(bytes.length * 2);
  for (const [index, byte] of bytes.entries()) {
    nibbles[2 * index] = byte >> 4;
    nibbles[2 * index + 1] = byte & 0x0f;
  }
  return nibbles;
}

function fromNibbles(nibbles: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(nibbles.length / 2);
  for (let index = 0; index < bytes.length; index++)
    bytes[index] = ((nibbles[2 * index] as number) << 4) | (nibbles[2 * index + 1] as number);
  return bytes;
}

/** The number of nibbles that two different keys share, of which the first `depth` are the same. */
function sharedDepth(a: Uint8Array, b: Uint8Array, depth: number): number {
  let shared = depth;
  while (a[shared] === b[shared]) shared++;
  return shared;
}

/** Hex-prefix encoding (yellow paper, appendix C). */
function encodePath(nibbles: Uint8Array, isLeaf: boolean): Uint8Array {
  const isOdd = nibbles.length % 2 === 1;
  const padded = new Uint8Array(nibbles.length + (isOdd ? 1 : 2));
  padded[0] = (isLeaf ? 2 : 0) + (isOdd ? 1 : 0);
  padded.set(nibbles, isOdd ? 1 : 2);
  return fromNibbles(padded);
}

function decodePath(bytes: Uint8Array): { nibbles: Uint8Array; isLeaf: boolean } {
  const [flag = 0xff, second, ...rest] = toNibbles(bytes);
  if (flag > 3 || (flag % 2 === 0 && second !== 0)) throw malformed("trie: bad hex prefix");
  return { nibbles: Uint8Array.from(flag % 2 === 0 ? rest : [second ?? 0, ...rest]), isLeaf: flag >= 2 };
}

/**
 * The item that a proof proves under the key rlp(index); undefined when it is no proof of this root and index. Every node
 * must be the one that its parent names, and the last must be the leaf.
 * @param root 32 bytes
 */
export function verifyIndex(
  root: Uint8Array,
  index: number,
  nodes: readonly Uint8Array[],
  keccak256: Keccak256 = keccak_256,
): Uint8Array | undefined {
  if (!Number.isSafeInteger(index) || index < 0) return undefined;
  return attempt("malformed", () => descend(root, keyNibbles(index), nodes, keccak256));
}

/** @param named the hash of the next node, or the node itself @param key nibbles that are left @param nodes that are left */
function descend(named: RlpItem, key: Uint8Array, nodes: readonly Uint8Array[], keccak256: Keccak256): Uint8Array {
  const [rlp, ...rest] = nodes;
  if (rlp === undefined || !isNamed(named, rlp, keccak256)) throw malformed("trie: not the node that is next");
  const node = decodeRlpList(rlp);
  if (node.length === BRANCH_WIDTH + 1) {
    const [nibble] = key;
    if (nibble === undefined) throw malformed("trie: no key ends at a branch");
    return descend(node[nibble] as RlpItem, key.subarray(1), rest, keccak256);
  }
  const [path, target] = node;
  if (node.length !== 2 || !(path instanceof Uint8Array) || target === undefined)
    throw malformed("trie: a node has neither 17 items nor 2");
  const { nibbles, isLeaf } = decodePath(path);
  const left = key.subarray(nibbles.length);
  if (!equalBytes(nibbles, key.subarray(0, nibbles.length))) throw malformed("trie: the path of another key");
  if (!isLeaf) {
    if (nibbles.length === 0) throw malformed("trie: an extension by nothing");
    return descend(target, left, rest, keccak256);
  }
  if (left.length > 0 || rest.length > 0 || !(target instanceof Uint8Array))
    throw malformed("trie: the leaf is not the end");
  return target;
}

function isNamed(named: RlpItem, rlp: Uint8Array, keccak256: Keccak256): boolean {
  if (Array.isArray(named)) return rlp.length < HASH_LENGTH && equalBytes(rlp, encodeRlp(named));
  return equalBytes(keccak256(rlp), named);
}
