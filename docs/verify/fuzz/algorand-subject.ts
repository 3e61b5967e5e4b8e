import { toBase32, toBase64 } from "@attestd/proof/encoding";
import { alterPack } from "./alter-msgpack.ts";
import type { Corpus } from "./corpus.ts";
import { bin, getMember, type Pack, pack, setMember, str, uint, unpack } from "./msgpack.ts";
import { lightLeaf, merkleWay, payLeaf } from "./proofs.ts";
import { alterBytes, type Random } from "./random.ts";
import { type Alterations, hex, type Kind, type Subject, sha, subjectOf } from "./subjects.ts";
import type { Json } from "./values.ts";

/* Of Algorand: transactions, headers and proofs with mistakes, and ids that are right for them. */

const idOf = (domain: "TX" | "BH", bytes: Uint8Array) => toBase32(sha("sha512-256", Buffer.from(domain), bytes));

export function algorandSubject(
  random: Random,
  { algorand }: Corpus,
  kind: Kind,
  ledger: string,
  times: Alterations,
): Subject {
  const atHeader = kind === "block" || (kind === "inclusion" && random.once(3));
  const txn = alteredPack(random, random.pick(algorand.transactions), atHeader ? 0 : times.bytes);
  const header = unpack(random.pick(algorand.headers));
  let inclusion: Json | undefined;
  if (kind === "inclusion") inclusion = merkleInclusion(random, algorand.entries, txn, header);
  const head = alteredPack(random, pack(header), atHeader ? times.bytes : 0);
  const light = inclusion && random.once(2) ? { lightHeader: lightHeader(random, header, head) } : {};
  if (inclusion) inclusion = { ...(inclusion as object), ...light };
  const made = { txn, txnId: idOf("TX", txn), head, blockHash: idOf("BH", head), height: roundOf(header), inclusion };
  const named = network(kind === "transaction" ? txn : head, ledger);
  return subjectOf(kind, "algorand", { ...made, network: named, levels: ["finalized"] });
}

function alteredPack(random: Random, bytes: Uint8Array, times: number): Uint8Array {
  if (times === 0) return bytes;
  if (random.once(5)) return alterBytes(random, bytes);
  let tree: Pack = unpack(bytes);
  for (let left = times; left > 0; left--) tree = random.once(4) ? alterNamed(random, tree) : alterPack(random, tree);
  return random.once(20) ? alterBytes(random, pack(tree)) : pack(tree);
}

/** Consensus v34 to v39: the rule of light headers changed with the last. Source: go-algorand, protocol/consensus.go. */
const VERSIONS = [
  "2dd5435993f6f6d65691140f592ebca5ef19ffbd",
  "433d8e9a7274b6fca703d91213e05c7e6a589e69",
  "44fa607d6051730f5264526bf3c108d51f0eadb6",
  "1ac4dd1f85470e1fb36c8a65520e1313d7dfed5e",
  "abd3d4823c6f77349fc04c3af7b1e99fe4df699f",
  "925a46433742afb0b51bb939354bd907fa88bf95",
].map((commit) => `https://github.com/algorandfoundation/specs/tree/${commit}`);

/** What a verifier reads, replaced. */
function alterNamed(random: Random, tree: Pack): Pack {
  const name = random.pick(["gh", "gh", "rnd", "rnd", "txn", "txn256", "type", "type", "gen", "tc", "seed", "proto"]);
  const value = random.weigh<() => Pack>([
    [3, () => bin(random.bytes(random.pick([0, 31, 32, 33])))],
    [1, () => bin(new Uint8Array(32))],
    [1, () => Uint8Array.of(0xc5, 0, 32, ...random.bytes(32))],
    [1, () => Uint8Array.of(0xd9, 32, ...new Uint8Array(32).fill(97))],
    [2, () => str(random.pick(["", "pay", "a", "é", "\u0000"]))],
    [1, () => str(Uint8Array.of(0xff))],
    [2, () => str(random.pick(VERSIONS))],
    [
      2,
      () =>
        uint(
          random.pick([
            0,
            1,
            127,
            128,
            255,
            256,
            2 ** 32,
            2 ** 53 - 1,
            2 ** 53,
            2 ** 53 + 2,
            2n ** 63n,
            2n ** 64n - 1n,
          ]),
        ),
    ],
    [
      1,
      () =>
        random.pick(
          [[0xff], [0xd0, 0x80], [0xd3, ...Array(8).fill(0xff)], [0xcc, 1], [0xc0], [0xc3], [0x80], [0x90]].map(
            (bytes) => Uint8Array.from(bytes),
          ),
        ),
    ],
  ])();
  setMember(tree, name, value);
  return tree;
}

function merkleInclusion(random: Random, entries: Uint8Array[], txn: Uint8Array, header: Pack): Json {
  const isVector = random.once(8) ? random.once(2) : getMember(header, "txn256") !== undefined;
  const [name, tree] = isVector ? (["sha256", "txn256"] as const) : (["sha512-256", "txn"] as const);
  const stib = random.once(6) ? random.bytes(1 + random.below(40)) : random.pick(entries);
  const { index, siblings, root } = merkleWay(random, name, isVector, payLeaf(name, txn, stib));
  setMember(header, tree, bin(root));
  return { kind: "algorand-merkle", tree, index, stibBase64: toBase64(stib), siblings: siblings.map(toBase64) };
}

/** A light header by one of the rules that there were, and by one that never was. */
function lightHeader(random: Random, header: Pack, head: Uint8Array): Json {
  const blockHash = bin(sha("sha512-256", Buffer.from("BH"), head));
  const [gh, rnd, tc, txn256, seed] = ["gh", "rnd", "tc", "txn256", "seed"].map((name) => getMember(header, name));
  const rule = random.weigh<[string, Uint8Array | undefined][]>([
    [
      6,
      [
        ["1", blockHash],
        ["gh", gh],
        ["r", rnd],
        ["tc", txn256],
      ],
    ],
    [
      2,
      [
        ["1", blockHash],
        ["gh", gh],
        ["r", rnd],
        ["tc", tc],
      ],
    ],
    [
      3,
      [
        ["0", seed],
        ["gh", gh],
        ["r", rnd],
        ["tc", txn256],
      ],
    ],
    [
      1,
      [
        ["gh", gh],
        ["r", rnd],
      ],
    ],
  ]);
  const leaf = lightLeaf(rule.filter((member): member is [string, Uint8Array] => member[1] !== undefined));
  const { index, siblings, root } = merkleWay(random, "sha256", true, leaf);
  const interval = random.once(6) ? random.pick([1, 2, 255, 256, 2 ** 31, 2 ** 32, 2 ** 53 - 1]) : 2 ** siblings.length;
  return { index, interval, commitment: toBase64(root), siblings: siblings.map(toBase64) };
}

function roundOf(header: Pack): number {
  const bytes = getMember(header, "rnd") ?? Uint8Array.of(0);
  return Math.min(Number(`0x${hex(bytes.length > 1 ? bytes.subarray(1) : bytes)}`), 2 ** 53 - 1);
}

function network(bytes: Uint8Array, ledger: string): string {
  try {
    const gh = getMember(unpack(bytes), "gh");
    return gh === undefined ? ledger : `algorand:${Buffer.from(gh.subarray(2)).toString("base64url").slice(0, 32)}`;
  } catch {
    return ledger;
  }
}
