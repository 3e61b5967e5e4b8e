import { createHash } from "node:crypto";
import { encodeQuantity, encodeRlp, type IndexProof, proveIndex, verifyIndex } from "@attestd/proof/base";
import { createMerkleProof, createMPT } from "@ethereumjs/mpt";
import { wasmKeccak256 } from "../packages/service/src/crypto/keccak.ts";
import { type Effort, inTurns, judge, type Row, timed } from "./measure.ts";

/**
 * The root and one proof of a block of a thousand Base transactions of 200 to 2,000 bytes, with the keccak of the
 * service: beside @ethereumjs/mpt, which is what there is otherwise, and beside the bare hashing of the same nodes.
 * Both builders start from the transactions' bytes, and must come to the same root and nodes.
 */
export async function run(effort: Effort): Promise<Row[]> {
  const items = Array.from({ length: 1000 }, (_, index) => transactionLike(index));
  const proven = 567;
  const keccak256 = await wasmKeccak256();
  const hashed: Uint8Array[] = [];
  const ours = proveIndex(items, proven, (bytes) => {
    hashed.push(bytes.slice());
    return keccak256(bytes);
  });
  requireSame(ours, await reference(items, proven));

  const own = () => timed(() => proveIndex(items, proven, keccak256));
  const peer = await inTurns(effort, own, () => timed(() => reference(items, proven)));
  const floor = await inTurns(effort, own, () => timed(() => hashed.forEach(keccak256)));
  return [
    judge("trie", "ms", peer, "speed", { atLeast: 12 }),
    judge("trie-floor", "ms", floor, "share", { atMost: 2.5 }),
  ];
}

type Proof = Pick<IndexProof, "root" | "nodes">;

async function reference(items: readonly Uint8Array[], index: number): Promise<Proof> {
  const trie = await createMPT();
  for (const [place, item] of items.entries()) await trie.put(keyOf(place), item);
  return { root: trie.root(), nodes: await createMerkleProof(trie, keyOf(index)) };
}

function keyOf(index: number): Uint8Array {
  return encodeRlp(encodeQuantity(index));
}

function requireSame(ours: IndexProof, theirs: Proof): void {
  const hex = ({ root, nodes }: Proof) => [root, ...nodes].map((bytes) => bytes.toHex()).join();
  if (hex(ours) !== hex(theirs)) throw new Error("the two tries differ");
  if (verifyIndex(ours.root, 567, ours.nodes) === undefined) throw new Error("the proof does not verify");
}

/** Bytes that do not repeat; the same in every run. */
function transactionLike(index: number): Uint8Array {
  const length = 200 + ((index * 7919) % 1801);
  return new Uint8Array(createHash("shake256", { outputLength: length }).update(String(index)).digest());
}
