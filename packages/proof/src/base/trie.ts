import { keccak_256 } from "@noble/hashes/sha3.js";
import { equalBytes, fromHex, toHex } from "../encoding.ts";
import { attempt, malformed } from "../errors.ts";
import type { Keccak256 } from "../signature.ts";
import { decodeRlpList, encodeQuantity, encodeRlp, type RlpItem } from "./rlp.ts";

/*
 * The Merkle-Patricia tries of a block's transactions and receipts (Ethereum yellow paper, appendix D). Item i has the
 * key rlp(i). All keys and their order are known, so the trie is built once, over ranges, from the root down.
 */

export type IndexProof = {
  root: Uint8Array;
  /** RLP of every node from root to leaf, including nodes that a parent embeds. */
  nodes: Uint8Array[];
};

/** Returns the root of the trie over transactions or receipts (EIP-2718) in block order. */
export function trieRoot(items: readonly Uint8Array[], keccak256: Keccak256 = keccak_256): Uint8Array {
  return build(items, -1, keccak256).root;
}

/** Returns the root, and the proof of the item at `index`, from 0. @throws RangeError when there is no such item */
export function proveIndex(items: readonly Uint8Array[], index: number, keccak256: Keccak256 = keccak_256): IndexProof {
  if (!Number.isInteger(index) || index < 0 || index >= items.length) throw new RangeError(`no item ${index}`);
  return build(items, index, keccak256);
}

const HASH_LENGTH = 32;
const EMPTY = new Uint8Array();
const BRANCH_WIDTH = 16;

/** `nibbles`: the key, as hex digits. */
type Entry = { nibbles: string; item: Uint8Array };

function build(items: readonly Uint8Array[], proven: number, keccak256: Keccak256): IndexProof {
  const order = sortedIndexes(items.length);
  const entries = order.map((index): Entry => ({ nibbles: keyNibbles(index), item: items[index] as Uint8Array }));
  const place = order.indexOf(proven);
  const leafToRoot: Uint8Array[] = [];

  /** Builds the node over the entries from `start` to before `end`, which share their first `depth` nibbles. */
  function node(start: number, end: number, depth: number): RlpItem[] {
    const { nibbles, item } = entries[start] as Entry;
    if (end - start === 1) return [encodePath(nibbles.slice(depth), LEAF), item];
    const shared = sharedDepth(nibbles, (entries[end - 1] as Entry).nibbles, depth);
    if (shared > depth) return [encodePath(nibbles.slice(depth, shared), EXTENSION), reference(start, end, shared)];
    return branch(start, end, depth);
  }

  function branch(start: number, end: number, depth: number): RlpItem[] {
    // The slot for a value stays empty: no rlp(i) is a prefix of another.
    const slots: RlpItem[] = Array(BRANCH_WIDTH + 1).fill(EMPTY);
    for (let from = start, to = start; from < end; from = to) {
      const nibble = entries[from]?.nibbles[depth] as string;
      while (to < end && entries[to]?.nibbles[depth] === nibble) to++;
      slots[Number.parseInt(nibble, 16)] = reference(from, to, depth + 1);
    }
    return slots;
  }

  /** Returns a parent's reference to a node: its hash, or the node itself if that is shorter. */
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

/** Returns 0 … n-1 in the order of their keys: rlp(0) is 0x80, which sorts between rlp(127) and rlp(128). */
function sortedIndexes(length: number): number[] {
  const indexes = Array.from({ length }, (_, index) => index);
  return [...indexes.slice(1, 128), ...indexes.slice(0, 1), ...indexes.slice(128)];
}

function keyNibbles(index: number): string {
  return toHex(encodeRlp(encodeQuantity(index)));
}

/** Returns how many nibbles two different keys share. @param depth how many are known to be the same */
function sharedDepth(a: string, b: string, depth: number): number {
  let shared = depth;
  while (a[shared] === b[shared]) shared++;
  return shared;
}

/** The prefix of a path (yellow paper, appendix C), for an even and for an odd number of nibbles. */
const LEAF = ["20", "3"] as const;
const EXTENSION = ["00", "1"] as const;

function encodePath(nibbles: string, [even, odd]: typeof LEAF | typeof EXTENSION): Uint8Array {
  return fromHex((nibbles.length % 2 === 0 ? even : odd) + nibbles);
}

function decodePath(bytes: Uint8Array): { nibbles: string; isLeaf: boolean } {
  const digits = toHex(bytes);
  const prefix = [...LEAF, ...EXTENSION].find((one) => digits.startsWith(one));
  if (prefix === undefined) throw malformed("trie: bad hex prefix");
  return { nibbles: digits.slice(prefix.length), isLeaf: LEAF.some((one) => one === prefix) };
}

/**
 * Returns the item that a proof proves under the key rlp(index); undefined if the proof does not fit root and index.
 * Every node must be the one that its parent refers to, and the last must be the leaf.
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

/**
 * @param named the hash of the next node, or the node itself @param key the remaining nibbles @param nodes the
 *   remaining nodes
 */
function descend(named: RlpItem, key: string, nodes: readonly Uint8Array[], keccak256: Keccak256): Uint8Array {
  const [rlp, ...rest] = nodes;
  if (rlp === undefined || !isNamed(named, rlp, keccak256)) throw malformed("trie: not the node that is next");
  const node = decodeRlpList(rlp);
  if (node.length === BRANCH_WIDTH + 1) {
    if (key === "") throw malformed("trie: no key ends at a branch");
    return descend(node[Number.parseInt(key.charAt(0), 16)] as RlpItem, key.slice(1), rest, keccak256);
  }
  const [path, target] = node;
  if (node.length !== 2 || !(path instanceof Uint8Array) || target === undefined)
    throw malformed("trie: a node has neither 17 items nor 2");
  const { nibbles, isLeaf } = decodePath(path);
  const left = key.slice(nibbles.length);
  if (!key.startsWith(nibbles)) throw malformed("trie: the path of another key");
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
