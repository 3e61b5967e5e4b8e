import { createHash } from "node:crypto";
import { encodeQuantity, encodeRlp } from "@attestd/proof/base/rlp";
import { proveIndex, verifyIndex } from "@attestd/proof/base/trie";
import { createMerkleProof, createMPT } from "@ethereumjs/mpt";
import { wasmKeccak256 } from "../packages/service/src/crypto.ts";

/*
 * The proof of one transaction of a block of a thousand: our builder, with the keccak of the service, beside
 * @ethereumjs/mpt, which is what there is otherwise. Both start from the transactions' bytes and end with the root and
 * the proof's nodes, which must be the same. They take turns in one process, so that whatever else the machine does
 * meets both; the ratio is taken within a turn, and its median and spread over the turns are what is printed.
 */

const TRANSACTIONS = 1000;
const TURNS = 15;
const WARM_UP = 3;

const items = Array.from({ length: TRANSACTIONS }, (_, index) => transactionLike(index));
const proven = 567;
const keccak256 = await wasmKeccak256();

const turns: Turn[] = [];
for (let turn = -WARM_UP; turn < TURNS; turn++) {
  const [ours, ourProof] = await timed(async () => proveIndex(items, proven, keccak256));
  const [theirs, theirProof] = await timed(referenceProof);
  requireSame(ourProof, theirProof);
  if (turn >= 0) turns.push({ ours, theirs });
}

console.log(`a trie of ${TRANSACTIONS} transactions, ${total(items)} bytes, and the proof of one; ${TURNS} turns`);
print("ours, wasm keccak", "ms", (turn) => turn.ours);
print("@ethereumjs/mpt", "ms", (turn) => turn.theirs);
print("ratio", "×", ({ ours, theirs }) => theirs / ours);

type Turn = { ours: number; theirs: number };
type Proof = { root: Uint8Array; nodes: Uint8Array[] };

async function referenceProof(): Promise<Proof> {
  const trie = await createMPT();
  for (const [index, item] of items.entries()) await trie.put(keyOf(index), item);
  return { root: trie.root(), nodes: await createMerkleProof(trie, keyOf(proven)) };
}

function keyOf(index: number): Uint8Array {
  return encodeRlp(encodeQuantity(index));
}

function requireSame(ours: Proof, theirs: Proof): void {
  const hex = ({ root, nodes }: Proof) => [root, ...nodes].map((bytes) => bytes.toHex()).join();
  if (hex(ours) !== hex(theirs)) throw new Error("the two tries differ");
  if (verifyIndex(ours.root, proven, ours.nodes) === undefined) throw new Error("the proof does not verify");
}

async function timed<T>(work: () => Promise<T>): Promise<[ms: number, result: T]> {
  const start = performance.now();
  const result = await work();
  return [performance.now() - start, result];
}

/** Bytes of a transaction's usual length, most short and a few long, that do not repeat; the same in every run. */
function transactionLike(index: number): Uint8Array {
  const length = 110 + ((index * 7919) % 400) + (index % 50 === 0 ? 4000 : 0);
  return new Uint8Array(createHash("shake256", { outputLength: length }).update(String(index)).digest());
}

function total(of: readonly Uint8Array[]): number {
  return of.reduce((sum, { length }) => sum + length, 0);
}

function print(what: string, unit: string, value: (turn: Turn) => number): void {
  const sorted = turns.map(value).toSorted((a, b) => a - b);
  const at = (part: number) => (sorted[Math.round(part * (sorted.length - 1))] as number).toFixed(1);
  console.log(`${what.padEnd(20)} median ${at(0.5).padStart(6)} ${unit}   from ${at(0)} to ${at(1)}`);
}
