import { createHash } from "node:crypto";
import { proveLeaf, treeRoot, verifyLeaf } from "@attestd/proof/algorand";
import { sha256 } from "@noble/hashes/sha2.js";
import { type Effort, inTurns, judge, type Row, timed } from "./measure.ts";

const LEAVES = 10_000;
/** Of a vector commitment over so many leaves, which is filled up to 2^14. */
const INNER_NODES = 2 ** 14 - 1;
/** "MA" and two SHA-256 digests. */
const NODE_LENGTH = 2 + 2 * 32;

/** One proof of a payset of 10,000 leaves, which makes the whole `txn256` tree, beside the bare hashing of its nodes. */
export async function run(effort: Effort): Promise<Row[]> {
  const leaves = Array.from({ length: LEAVES }, (_, index) => digest(String(index)));
  const index = 4321;
  const root = treeRoot("txn256", leaves);
  if (!verifyLeaf("txn256", leaves[index] as Uint8Array, index, proveLeaf("txn256", leaves, index), root))
    throw new Error("the proof does not lead to the root");

  const nodes = Array.from({ length: INNER_NODES }, (_, place) => nodeLike(place));
  const turns = await inTurns(
    effort,
    () => timed(() => proveLeaf("txn256", leaves, index)),
    () => timed(() => nodes.forEach((node) => void sha256(node))),
  );
  return [judge("merkle", "ms", turns, "share", { atMost: 1.3 })];
}

function digest(text: string): Uint8Array {
  return new Uint8Array(createHash("sha256").update(text).digest());
}

function nodeLike(place: number): Uint8Array {
  return new Uint8Array(createHash("shake256", { outputLength: NODE_LENGTH }).update(String(place)).digest());
}
