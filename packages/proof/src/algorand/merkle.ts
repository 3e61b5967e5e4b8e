import { concatBytes, equalBytes, utf8 } from "../encoding.ts";
import { malformed } from "../errors.ts";
import { sha256, sha512, sha512_256 } from "../sha2.ts";
import { encodeMsgpack, getBytes, getInteger, type MsgpackMap, structMap } from "./msgpack.ts";
import { NODE, reverseBits, type TreeRules, treeLevels } from "./tree.ts";

/**
 * The commitments to a block's payset that a header carries, named by their fields. `txn` is a plain Merkle tree,
 * the others are vector commitments. Source: go-algorand, `data/bookkeeping/txn_merkle.go`, `crypto/merklearray`.
 */
export type TransactionTree = "txn" | "txn256" | "txn512";

interface TransactionRules extends TreeRules {
  /** Hash of the transaction and of its in-block map, in a leaf. */
  element: (bytes: Uint8Array) => Uint8Array;
}

const TREES: Record<TransactionTree, TransactionRules> = {
  txn: { element: sha512_256, node: sha512_256, length: 32, vectorCommitment: false },
  txn256: { element: sha256, node: sha256, length: 32, vectorCommitment: true },
  txn512: { element: sha256, node: sha512, length: 64, vectorCommitment: true },
};

const TX = utf8("TX");
const STIB = utf8("STIB");
const LEAF = utf8("TL");
const LIGHT_HEADER = utf8("B256");
const PAYSET_FLAT = utf8("PF");
const EMPTY_PAYSET: Uint8Array = encodeMsgpack([]);

/**
 * A payset's leaf: `H("TL" ‖ H("TX" ‖ transaction) ‖ H("STIB" ‖ in-block map))`.
 * @param transaction canonical msgpack of the unsigned transaction, genesis restored
 * @param stib canonical msgpack of the in-block map, genesis left out
 */
export function transactionLeaf(tree: TransactionTree, transaction: Uint8Array, stib: Uint8Array): Uint8Array {
  const { element, node } = TREES[tree];
  return node(concatBytes(LEAF, element(concatBytes(TX, transaction)), stibHash(tree, stib)));
}

/** Returns `H("STIB" ‖ in-block map)`. A leaf holds it next to the transaction's id. */
export function stibHash(tree: TransactionTree, stib: Uint8Array): Uint8Array {
  return TREES[tree].element(concatBytes(STIB, stib));
}

/**
 * The flat commitment: SHA-512/256 of `"PF"` and the msgpack of `txns`. It is the `txn` of headers before consensus v26
 * and of a chain's first header (go-algorand, `payset.go`).
 */
export function flatRoot(payset = EMPTY_PAYSET): Uint8Array {
  return sha512_256(concatBytes(PAYSET_FLAT, payset));
}

/** Whether a header commits to its payset as one flat list. Such a header proves nothing about a single transaction. */
export function isFlat(header: MsgpackMap, payset?: Uint8Array): boolean {
  const root = getBytes(header, "txn", 32);
  return root !== undefined && equalBytes(root, flatRoot(payset));
}

/** Returns the root over leaves in payset order. An empty plain tree has a root of zeros, which a header leaves out. */
export function treeRoot(tree: TransactionTree, leaves: Uint8Array[]): Uint8Array {
  const top = treeLevels(TREES[tree], leaves).at(-1)?.[0];
  return top ?? new Uint8Array(TREES[tree].length);
}

/** The siblings of the leaf at `index` in the payset, from leaf to root. @throws RangeError when there is no such leaf */
export function proveLeaf(tree: TransactionTree, leaves: Uint8Array[], index: number): Uint8Array[] {
  return leafProver(tree, leaves)(index);
}

/** Like `proveLeaf`, but hashes the tree once for many leaves. */
export function leafProver(tree: TransactionTree, leaves: Uint8Array[]): (index: number) => Uint8Array[] {
  const levels = treeLevels(TREES[tree], leaves);
  const { vectorCommitment, length } = TREES[tree];
  return (index) => {
    if (!Number.isInteger(index) || index < 0 || index >= leaves.length) throw new RangeError(`no leaf ${index}`);
    const position = vectorCommitment ? reverseBits(index, levels.length - 1) : index;
    return levels.slice(0, -1).map((level, height) => level[(position >>> height) ^ 1] ?? new Uint8Array(length));
  };
}

/** Whether the siblings lead from the leaf at `index` to the root. No other index is accepted for the same path. */
export function verifyLeaf(
  tree: TransactionTree,
  leaf: Uint8Array,
  index: number,
  siblings: Uint8Array[],
  root: Uint8Array,
): boolean {
  const { node, length, vectorCommitment } = TREES[tree];
  const depth = siblings.length;
  if (depth > MAX_DEPTH || !Number.isInteger(index) || index < 0 || index >= 2 ** depth) return false;
  if (siblings.some((sibling) => sibling.length !== length)) return false;
  let position = vectorCommitment ? reverseBits(index, depth) : index;
  let current = leaf;
  for (const sibling of siblings) {
    current = node(position & 1 ? concatBytes(NODE, sibling, current) : concatBytes(NODE, current, sibling));
    position >>>= 1;
  }
  return equalBytes(current, root);
}

/** A depth that no payset reaches: 2^16 transactions of the smallest size overfill a 5 MiB block. */
const MAX_DEPTH = 30;

/**
 * Consensus versions v34 to v38, the first with state proofs. Their light headers begin with the seed; since v39 they
 * begin with the block's hash. Source: go-algorand, `config/consensus.go`, StateProofBlockHashInLightHeader;
 * `protocol/consensus.go`.
 */
export const SEED_VERSIONS: ReadonlySet<unknown> = new Set(
  [
    "2dd5435993f6f6d65691140f592ebca5ef19ffbd",
    "433d8e9a7274b6fca703d91213e05c7e6a589e69",
    "44fa607d6051730f5264526bf3c108d51f0eadb6",
    "1ac4dd1f85470e1fb36c8a65520e1313d7dfed5e",
    "abd3d4823c6f77349fc04c3af7b1e99fe4df699f",
  ].map((commit) => `https://github.com/algorandfoundation/specs/tree/${commit}`),
);

/**
 * Returns a block's leaf in a state proof's commitment, which is a SHA-256 vector commitment. The leaf is SHA-256 of
 * `"B256"` and the msgpack of `{"1": block hash, gh, r, tc}`; before consensus v39, of `{"0": seed, gh, r, tc}`. `tc`
 * is the header's `txn256`; the header's own `tc` counts transactions. Source: go-algorand,
 * `data/bookkeeping/lightBlockHeader.go`.
 * @param header the header map, whose hash is `blockDigest` (32 bytes)
 * @throws ProofError `malformed` when the header lacks one of these members, so that no state proof can cover it
 */
export function lightHeaderLeaf(header: MsgpackMap, blockDigest: Uint8Array): Uint8Array {
  const needed = (member: string) => {
    const bytes = getBytes(header, member, 32);
    if (bytes === undefined) throw malformed(`header has no ${member}`);
    return bytes;
  };
  const round = getInteger(header, "rnd");
  if (round === 0n) throw malformed("header has no rnd");
  const first = SEED_VERSIONS.has(header.get("proto")) ? { "0": needed("seed") } : { "1": blockDigest };
  const light = structMap({ ...first, gh: needed("gh"), r: round, tc: needed("txn256") });
  return sha256(concatBytes(LIGHT_HEADER, encodeMsgpack(light)));
}
