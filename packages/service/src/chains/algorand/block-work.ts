import {
  type AlgorandInclusion,
  algorandCaip2,
  blockHash,
  decodeMsgpackMap,
  encodeMsgpack,
  getBytes,
  getInteger,
  getMap,
  headerDigest,
  headerRound,
  isFlat,
  leafProver,
  paysetReader,
  type RawBlock,
  type RawEntry,
  splitRawBlock,
  transactionLeaf,
  verifyLeaf,
} from "@attestd/proof/algorand";
import { equalBytes, toBase64 } from "@attestd/proof/encoding";
import { attempt, ProofError } from "@attestd/proof/errors";
import type { BlockOfTransaction } from "../chain.ts";
import { innerIdsOf } from "./inner.ts";

/** A block's header from one node, with its hash recomputed. */
export type AlgorandHeaderFacts = {
  header: Uint8Array;
  blockHash: string;
  /** Unix s; 0 if the header has none. */
  time: number;
  /** CAIP-2 of the genesis that the header names, if any. */
  caip2?: string;
};

/**
 * Reads a block's header.
 * @param answer `{block, cert}` in msgpack
 * @throws ProofError `malformed` when it is not a block of that round, or its certificate belongs to another block
 */
export function readAlgorandHeader(answer: Uint8Array, round: number): AlgorandHeaderFacts {
  return headerFacts(splitRound(answer, round));
}

function headerFacts({ header, headerBytes, cert }: RawBlock): AlgorandHeaderFacts {
  const certified = cert && getBytes(getMap(cert, "prop") ?? new Map(), "dig", 32);
  if (certified && !equalBytes(certified, headerDigest(headerBytes)))
    throw new ProofError("malformed", "block with the certificate of another block");
  const time = Number(getInteger(header, "ts"));
  if (!Number.isSafeInteger(time)) throw new ProofError("malformed", "block whose time is not a safe integer");
  const genesisHash = getBytes(header, "gh", 32);
  return {
    header: headerBytes,
    blockHash: blockHash(headerBytes),
    time,
    ...(genesisHash && { caip2: algorandCaip2(genesisHash) }),
  };
}

/** Reads a header alone. @param header canonical msgpack @throws ProofError `malformed` as above */
export function readBareHeader(header: Uint8Array, round: number): AlgorandHeaderFacts {
  return readAlgorandHeader(encodeMsgpack(new Map([["block", decodeMsgpackMap(header)]])), round);
}

/** Decodes a block answer. @throws ProofError `malformed` when it is not a block of that round */
function splitRound(answer: Uint8Array, round: number): RawBlock {
  const block = splitRawBlock(answer);
  const actual = headerRound(block.header);
  if (actual !== round) throw new ProofError("malformed", `block of round ${actual} instead of ${round}`);
  return block;
}

/** A transaction's place in a block. An inner transaction has no index of its own: the id of its root is given. */
type AlgorandPlace = PlaceInBlock | { kind: "missing" };
type PlaceInBlock = { kind: "transaction"; index: number; bytes: Uint8Array } | { kind: "inner"; rootId: string };

/**
 * `caip2`: of the genesis that the block's header names, if any. `others`: the places of other wanted transactions, by
 * id.
 */
export type PlaceInRound = AlgorandPlace & {
  block: BlockOfTransaction;
  caip2?: string;
  others?: ReadonlyMap<string, PlaceInBlock>;
};

/**
 * Looks for a transaction in a block, and for others whose round is unknown. The others are searched only if the header
 * commits to the block's transactions.
 * @param answer `{block, cert}` in msgpack
 * @throws ProofError `malformed` as `readAlgorandHeader` does
 */
export function findInRound(
  answer: Uint8Array,
  round: number,
  txnId: string,
  others: readonly string[] = [],
): PlaceInRound {
  const whole = splitRound(answer, round);
  const { blockHash: hash, time, caip2 } = headerFacts(whole);
  const block = { hash, height: round, time };
  const found = { ...findInPayset(whole, txnId), block, ...(caip2 !== undefined && { caip2 }) };
  return others.length === 0 ? found : { ...found, others: findOthers(whole, new Set(others)) };
}

/** Looks for a transaction in a block by hashing. @throws ProofError `malformed` */
function findInPayset(block: RawBlock, txnId: string): AlgorandPlace {
  for (const [id, place] of placesIn(block)) if (id === txnId) return place();
  return { kind: "missing" };
}

function findOthers(block: RawBlock, txnIds: ReadonlySet<string>): ReadonlyMap<string, PlaceInBlock> {
  // A malformed transaction may be one that is not wanted.
  const found = attempt("malformed", () => {
    const places = new Map<string, PlaceInBlock>();
    for (const [id, place] of placesIn(block)) if (txnIds.has(id)) places.set(id, place());
    return places.size > 0 && commitmentOf(block)(0) ? places : undefined;
  });
  return found ?? new Map();
}

/**
 * Yields the ids of a block's transactions and inner transactions, recomputed from their bytes, each with its place.
 * @throws ProofError `malformed`
 */
function* placesIn({ header, entries }: RawBlock): Generator<[string, () => PlaceInBlock]> {
  const reader = paysetReader(header);
  for (const [index, entry] of entries.entries()) {
    const rootId = reader.txid(entry);
    yield [rootId, () => ({ kind: "transaction", index, bytes: reader.transaction(entry) })];
    for (const id of innerIdsOf(entry, rootId)) yield [id, () => ({ kind: "inner", rootId })];
  }
}

/** A transaction in a block, with its proof. */
export type AlgorandFinding =
  | { kind: "transaction"; bytes: Uint8Array; inclusion: AlgorandInclusion }
  /** The header commits to a flat list of the transactions, which proves nothing about a single one. */
  | { kind: "flat" }
  | Exclude<AlgorandPlace, { kind: "transaction" }>;

/**
 * Looks for a transaction in a block and proves that it is there, with the tree that the header has (docs/format.md).
 * @param answer `{block, cert}` in msgpack
 * @throws ProofError `malformed` when the header does not commit to this payset
 */
export function proveInPayset(answer: Uint8Array, txnId: string): AlgorandFinding {
  return paysetProver(answer)(txnId);
}

/** Like `proveInPayset`, for many transactions of one block, which is decoded once. */
export function paysetProver(answer: Uint8Array): (txnId: string) => AlgorandFinding {
  const block = splitRawBlock(answer);
  const places = new Map(placesIn(block));
  let commitment: ReturnType<typeof commitmentOf> | undefined;
  return (txnId) => {
    const place = places.get(txnId)?.();
    if (place?.kind !== "transaction") return place ?? { kind: "missing" };
    commitment ??= commitmentOf(block);
    const found = commitment(place.index);
    if (found === undefined)
      throw new ProofError("malformed", `block whose transactions do not lead to its ${treeOf(block)}`);
    if (found === "flat") return { kind: "flat" };
    const { tree, stib, siblings } = found;
    const inclusion: AlgorandInclusion = {
      kind: "algorand-merkle",
      tree,
      index: place.index,
      stibBase64: toBase64(stib),
      siblings: siblings.map(toBase64),
    };
    return { kind: "transaction", bytes: place.bytes, inclusion };
  };
}

/**
 * Recomputes the header's commitment to the block's transactions: a tree, with the path from the transaction at
 * `index`, or a flat list.
 * @returns undefined if it commits to other transactions
 */
function commitmentOf(block: RawBlock) {
  const { header, payset, entries } = block;
  const tree = treeOf(block);
  const reader = paysetReader(header);
  const leaves = entries.map((entry) => transactionLeaf(tree, reader.transaction(entry), entry.bytes));
  const root = getBytes(header, tree, 32);
  const prove = tree === "txn" && isFlat(header, payset) ? undefined : leafProver(tree, leaves);
  return (index: number) => {
    if (prove === undefined) return "flat";
    const siblings = prove(index);
    const isTree = root && verifyLeaf(tree, leaves[index] as Uint8Array, index, siblings, root);
    return isTree ? ({ tree, stib: (entries[index] as RawEntry).bytes, siblings } as const) : undefined;
  };
}

function treeOf({ header }: RawBlock): "txn256" | "txn" {
  return header.has("txn256") ? "txn256" : "txn";
}
