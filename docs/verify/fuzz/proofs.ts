import { keccak_256 } from "@noble/hashes/sha3.js";
import type { Random } from "./random.ts";
import { alterRlp, longForm, quantity, type Rlp, toRlp } from "./rlp.ts";
import { sha } from "./subjects.ts";

/* Ways from an item to a root that are made for the item: true ones, and such as only look true. */

const ascii = (text: string) => Buffer.from(text);

export type Way = { index: number; siblings: Uint8Array[]; root: Uint8Array };

/** A path of Algorand's Merkle trees from a leaf: of any depth, at any place, zero digits among its siblings. */
export function merkleWay(random: Random, name: "sha256" | "sha512-256", isVector: boolean, leaf: Uint8Array): Way {
  const depth = random.weigh([
    [20, random.below(6)],
    [2, 8],
    [1, random.pick([0, 19, 20, 21, 30, 31, 32, 33])],
  ]);
  const index = random.once(8) ? random.pick([0, 2 ** depth - 1, 2 ** (depth >> 1)]) : random.below(2 ** depth);
  const siblings = Array.from({ length: depth }, () => (random.once(5) ? new Uint8Array(32) : random.bytes(32)));
  // The bits of the index, first the one that tells left from right at the leaf.
  const bits = [...index.toString(2).padStart(depth, "0")].slice(0, depth);
  if (!isVector) bits.reverse();
  const root = siblings.reduce(
    (node, sibling, level) => sha(name, ascii("MA"), ...(bits[level] === "1" ? [sibling, node] : [node, sibling])),
    leaf,
  );
  return { index, siblings, root };
}

export function payLeaf(name: "sha256" | "sha512-256", transaction: Uint8Array, stib: Uint8Array): Uint8Array {
  return sha(name, ascii("TL"), sha(name, ascii("TX"), transaction), sha(name, ascii("STIB"), stib));
}

/** The leaf of a light header, by the members that it is given, already encoded. */
export function lightLeaf(members: [name: string, value: Uint8Array][]): Uint8Array {
  const encoded = members.flatMap(([name, value]) => [0xa0 + name.length, ...ascii(name), ...value]);
  return sha("sha256", ascii("B256"), Uint8Array.of(0x80 + members.length, ...encoded));
}

export type Trie = { root: Uint8Array; nodes: Uint8Array[] };

/** Nodes of a trie down to a value under rlp(index), by any cut of the key; @param tricks how many are played on it */
export function trieWay(random: Random, index: number, value: Uint8Array, tricks: number): Trie {
  const key = Buffer.from(toRlp(quantity(index))).toString("hex");
  const cuts = cut(random, key);
  if (tricks > 0 && random.once(6)) cuts.splice(random.below(cuts.length), 0, { kind: "extension", path: "" });
  const trickAt = Array.from({ length: tricks }, () => random.below(cuts.length));
  const nodes: Uint8Array[] = [];
  let below: Rlp = value;
  for (const [at, { kind, path }] of [...cuts.entries()].reverse()) {
    const isTricked = trickAt.includes(at);
    const right = nodeOf(random, kind, path, below);
    const node: Rlp = isTricked && !random.once(3) ? trick(random, right, below) : right;
    const rlp = toRlp(node);
    nodes.unshift(rlp);
    const isByItself = rlp.length < 32 !== (isTricked && random.once(4));
    below = isByItself ? node : keccak_256(rlp);
  }
  const last = nodes[0] as Uint8Array;
  const root = random.once(10) && !(below instanceof Uint8Array) ? last : keccak_256(last);
  if (tricks > 0 && random.once(10)) nodes.splice(random.below(nodes.length + 1), random.below(2), toRlp([]));
  return { root, nodes };
}

type Cut = { kind: "branch" | "extension" | "leaf"; path: string };

function cut(random: Random, key: string): Cut[] {
  const cuts: Cut[] = [];
  let left = key;
  while (left.length > 0 && !random.once(4)) {
    const isBranch = random.once(2) || cuts.at(-1)?.kind === "extension";
    const length = isBranch ? 1 : 1 + random.below(left.length);
    cuts.push({ kind: isBranch ? "branch" : "extension", path: left.slice(0, length) });
    left = left.slice(length);
  }
  return [...cuts, { kind: "leaf", path: left }];
}

function nodeOf(random: Random, kind: Cut["kind"], path: string, below: Rlp): Rlp[] {
  if (kind !== "branch") return [hexPrefix(path, kind === "leaf"), below];
  const slots: Rlp[] = Array.from({ length: 17 }, () => (random.once(3) ? random.bytes(32) : new Uint8Array()));
  slots[16] = new Uint8Array();
  slots[Number.parseInt(path, 16)] = below;
  return slots;
}

function hexPrefix(path: string, isLeaf: boolean, padding = "0"): Uint8Array {
  const flag = (isLeaf ? 2 : 0) + (path.length % 2);
  return new Uint8Array(Buffer.from(`${flag}${path.length % 2 ? "" : padding}${path}`, "hex"));
}

/** A node that is not quite one. */
function trick(random: Random, node: Rlp[], below: Rlp): Rlp {
  const [first] = node;
  const path = node.length === 2 && first instanceof Uint8Array ? Buffer.from(first).toString("hex") : "20";
  const nibbles = "13".includes(path.slice(0, 1)) ? path.slice(1) : path.slice(2);
  const withFlag = (flag: string) => {
    const digits = `${flag}${nibbles}`;
    return [new Uint8Array(Buffer.from(digits.slice(0, digits.length - (digits.length % 2)), "hex")), below];
  };
  const branch = Array.from({ length: 17 }, (): Rlp => below);
  const choices: (() => Rlp)[] = [
    () => alterRlp(random, node),
    () => [hexPrefix(nibbles, true), below],
    () => [hexPrefix(nibbles, false), below],
    () => [hexPrefix("", false), below],
    () => [hexPrefix(nibbles, random.once(2), random.pick(["1", "f"])), below],
    () => withFlag(random.pick(["4", "5", "6", "7", "80", "f0", "01", "21", "2", "0"])),
    () => [new Uint8Array(), below],
    () => [[], below],
    () => [...node, new Uint8Array()],
    () => node.slice(0, -1),
    () => branch,
    () => node.map((item) => (random.once(4) ? longForm(item) : item)),
    () => longForm(node),
    () => [first as Rlp, [below]],
    () => node.with(-1, below),
  ];
  return random.pick(choices)();
}
