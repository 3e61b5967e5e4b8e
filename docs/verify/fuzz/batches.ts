import { batchTree } from "@attestd/proof/attestor";
import { toBase32, toBase64, toBase64Url, toHex, utf8 } from "@attestd/proof/encoding";
import { keccak_256 } from "@noble/hashes/sha3.js";
import type { Corpus } from "./corpus.ts";
import { canonicalJson, type Keys } from "./keys.ts";
import { alterItems, type Random } from "./random.ts";
import { sha } from "./subjects.ts";
import { spell, spoil } from "./text.ts";
import { alterValue, type Json } from "./values.ts";

/* Batches, most with a mistake that the key has signed: in a statement, in a proof, in the head, in the text. */

type Members = Record<string, Json>;

/** What is altered of a batch. */
type Layer = "statement" | "head" | "proof" | "note" | "value" | "order" | "spelling" | "text";
const LAYERS: [weight: number, layer: Layer][] = [
  [4, "statement"],
  [3, "head"],
  [4, "proof"],
  [2, "note"],
  [4, "value"],
  [2, "order"],
  [2, "spelling"],
  [2, "text"],
];

/** An item of a batch, as a bundle of its own. */
export function makeItem(random: Random, keys: Keys, corpus: Corpus): Uint8Array {
  const layers = pickLayers(random);
  const { head, items } = makeBatch(random, keys, corpus, layers);
  return written(random, { ...random.pick(items), batch: head }, layers);
}

/** The answer of a batch. */
export function makeAnswer(random: Random, keys: Keys, corpus: Corpus): Uint8Array {
  const layers = pickLayers(random);
  const { head, items } = makeBatch(random, keys, corpus, layers);
  if (layers.includes("order")) alterItems(random, items, () => structuredClone(random.pick(items)));
  if (random.once(30)) for (const item of items) if (random.once(3)) item.batch = head;
  return written(random, { batch: head, items }, layers);
}

function pickLayers(random: Random): Layer[] {
  const count = random.weigh([
    [1, 0],
    [8, 1],
    [3, 2],
  ]);
  return Array.from({ length: count }, () => random.weigh(LAYERS));
}

function written(random: Random, value: Members, layers: Layer[]): Uint8Array {
  if (layers.includes("value")) alterValue(random, value);
  const text = layers.includes("spelling") ? spell(random, value) : canonicalJson(value);
  return layers.includes("text") ? spoil(random, text) : utf8(text);
}

function makeBatch(random: Random, { ledger, signers }: Keys, corpus: Corpus, layers: Layer[]) {
  const { attestor, address, rounds } = random.pick(signers);
  const size = random.weigh([
    [6, 2],
    [3, 3],
    [1, 5],
    [1, 1],
  ]);
  const made = Array.from({ length: size }, () => itemOf(random, corpus, ledger));
  if (layers.includes("statement")) alterValue(random, random.pick(made).statement);
  const leaves = made.map(({ statement }) => sha("sha256", Uint8Array.of(0), utf8(canonicalJson(statement))));
  const { root, path } = batchTree(leaves);
  const items = made.map((item, index): Members => {
    const proof: Members = { index, siblings: path(index).map(toBase64) };
    if (layers.includes("proof") && random.once(2)) alterProof(random, proof, size);
    return { type: "batch-item", version: 1, network: "algorand-mainnet", ...item, proof };
  });
  const payment = toBase64Url(random.bytes(16));
  const facts: Members = { a: attestor.keySha256, g: ledger, p: payment, r: toHex(root), z: size };
  if (layers.includes("note")) alterValue(random, facts);
  const head: Members = {
    type: "batch-attestation",
    version: 1,
    network: "algorand-mainnet",
    size,
    root: toBase64(root),
    attest: {
      txnId: "YUCWFYUWNKVCTVNU6M7KSAL7LXB7TPWJPN5KSID3R77E3HUE4MHQ",
      round: random.pick(rounds),
      note: `attestd/v1:j${layers.includes("note") && random.once(3) ? spell(random, facts) : canonicalJson(facts)}`,
    },
    attestor: { algorandAddress: address, pqPublicKey: toBase64(attestor.publicKey) },
  };
  if (layers.includes("head")) alterValue(random, head);
  const sigBase64 = toBase64(attestor.sign(utf8(canonicalJson(head))));
  return { head: { ...head, signature: { alg: "ML-DSA-65", sigBase64 } }, items };
}

/** The source and the statement of a transaction, right but for what is odd in its bytes. */
function itemOf(random: Random, { algorand, base }: Corpus, ledger: string) {
  const isBase = random.once(2);
  const bytes = random.pick(isBase ? base.transactions : algorand.transactions);
  const txnId = isBase ? `0x${toHex(keccak_256(bytes))}` : toBase32(sha("sha512-256", utf8("TX"), bytes));
  const hashSha256 = toHex(sha("sha256", bytes));
  const chain = isBase ? "base" : "algorand";
  const statement: Members = {
    type: "transaction",
    chain: isBase ? "eip155:8453" : ledger,
    txnId,
    hashSha256,
    block: {
      hash: isBase ? `0x${"b1".repeat(32)}` : "A".repeat(52),
      height: random.below(2 ** 20),
      time: random.below(2 ** 31),
    },
    level: random.pick(isBase ? ["included", "safe", "finalized"] : ["finalized"]),
    outcome: isBase ? random.pick(["succeeded", "failed"]) : "not_applicable",
    nonce: toBase64(random.bytes(16)),
  };
  if (random.once(40)) statement.chain = random.pick(["eip155:1", "algorand:a", "ab:c", `abc:${"d".repeat(33)}`]);
  return { source: { chain, txnId, hashSha256, txnBytesBase64: toBase64(bytes) } as Members, statement };
}

function alterProof(random: Random, proof: Members, size: number): void {
  const siblings = proof.siblings as string[];
  const change = random.pick([
    () => Object.assign(proof, { index: random.pick([0, 1, size - 1, size, size + 1, 2 ** 32, 2 ** 53 - 1]) }),
    () => alterItems(random, siblings, () => toBase64(random.bytes(32))),
    () => siblings.reverse(),
    () => siblings.splice(0),
    () => siblings.push(...Array.from({ length: random.pick([1, 17, 19, 20]) }, () => toBase64(random.bytes(32)))),
  ]);
  change();
}
