import { createHash } from "node:crypto";
import {
  ALGORAND_MAINNET,
  decodeBaseTransaction,
  decodeRlp,
  toBase32,
  toBase64,
  transactionChainId,
} from "@attestd/proof";
import { keccak_256 } from "@noble/hashes/sha3.js";
import type { Corpus } from "./corpus.ts";
import { alterPack, bin, getMember, type Pack, pack, setMember, str, uint, unpack } from "./msgpack.ts";
import { lightLeaf, merkleWay, payLeaf, trieWay } from "./proofs.ts";
import { alterBytes, type Random } from "./random.ts";
import { alterRlp, field, quantity, type Rlp, toRlp } from "./rlp.ts";
import type { Json } from "./values.ts";

/* What a bundle is about, with ids, hashes and proofs that are right for its bytes, whatever these are. */

export type Subject = { source?: Json; block?: Json; inclusion?: Json; note: Record<string, Json>; levels: string[] };
/** How many alterations of the bytes, and of the proof. */
export type Alterations = { bytes: number; proof: number };
type Kind = "transaction" | "block" | "inclusion";

const hash = (name: string, ...parts: Uint8Array[]) => createHash(name).update(Buffer.concat(parts)).digest();
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");
const ofAlgorand = (domain: string, bytes: Uint8Array) => toBase32(hash("sha512-256", Buffer.from(domain), bytes));
const ofBase = (bytes: Uint8Array) => `0x${hex(keccak_256(bytes))}`;

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
  return {
    ...members(
      kind,
      "algorand",
      txn,
      head,
      [ofAlgorand("TX", txn), ofAlgorand("BH", head), roundOf(header)],
      inclusion,
    ),
    note: note(
      kind,
      txn,
      head,
      [ofAlgorand("TX", txn), ofAlgorand("BH", head), roundOf(header)],
      network(kind === "transaction" ? txn : head, ledger),
    ),
    levels: ["finalized"],
  };
}

function alteredPack(random: Random, bytes: Uint8Array, times: number): Uint8Array {
  if (times === 0) return bytes;
  if (random.once(5)) return nonempty(alterBytes(random, bytes));
  let tree: Pack = unpack(bytes);
  for (let left = times; left > 0; left--) tree = random.once(4) ? alterNamed(random, tree) : alterPack(random, tree);
  return nonempty(random.once(20) ? alterBytes(random, pack(tree)) : pack(tree));
}

/** Only a bundle's form forbids that there are no bytes. */
const nonempty = (bytes: Uint8Array) => (bytes.length > 0 ? bytes : Uint8Array.of(0));

/** What a verifier reads, replaced. */
function alterNamed(random: Random, tree: Pack): Pack {
  const name = random.pick(["gh", "gh", "rnd", "rnd", "txn", "txn256", "type", "type", "gen", "tc", "seed"]);
  const value = random.weigh<() => Pack>([
    [3, () => bin(random.bytes(random.pick([0, 31, 32, 33])))],
    [1, () => bin(new Uint8Array(32))],
    [1, () => Uint8Array.of(0xc5, 0, 32, ...random.bytes(32))],
    [1, () => Uint8Array.of(0xd9, 32, ...new Uint8Array(32).fill(97))],
    [2, () => str(random.pick(["", "pay", "a", "é", "\u0000"]))],
    [1, () => str(Uint8Array.of(0xff))],
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
  const blockHash = bin(hash("sha512-256", Buffer.from("BH"), head));
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
      1,
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

export function baseSubject(random: Random, { base }: Corpus, kind: Kind, ledger: string, times: Alterations): Subject {
  const atHeader = kind === "block" || (kind === "inclusion" && random.once(3));
  const txn = alteredTransaction(random, random.pick(base.transactions), atHeader ? 0 : times.bytes);
  const fields = [...(decodeRlp(random.pick(base.headers)) as Rlp[])];
  let inclusion: Json | undefined;
  if (kind === "inclusion") inclusion = trieInclusion(random, base.receipts, txn, fields, times);
  const height = random.once(10) ? random.pick([0, 127, 128, 2 ** 53 - 1]) : 46_000_000;
  fields[8] = quantity(height);
  const head = atHeader ? alteredRlp(random, fields, times.bytes) : toRlp(fields);
  return {
    ...members(kind, "base", txn, head, [ofBase(txn), ofBase(head), height], inclusion),
    note: note(
      kind,
      txn,
      head,
      [ofBase(txn), ofBase(head), height],
      kind === "transaction" ? chainOf(random, txn, ledger) : "eip155:8453",
    ),
    levels: ["finalized", "finalized", "included", "safe"],
  };
}

function trieInclusion(
  random: Random,
  receipts: Uint8Array[],
  txn: Uint8Array,
  fields: Rlp[],
  times: Alterations,
): Json {
  const index = random.pick([
    0,
    1,
    2,
    127,
    128,
    255,
    256,
    65_535,
    65_536,
    2 ** 31,
    2 ** 32,
    2 ** 53 - 1,
    random.below(300),
    random.below(300),
  ]);
  const ofReceipt = times.proof > 0 && random.once(3);
  const way = trieWay(random, index, txn, ofReceipt ? 0 : times.proof);
  fields[4] = way.root;
  const inclusion = { kind: "mpt", index, nodes: way.nodes.map(toBase64) };
  if (!ofReceipt && random.once(2)) return inclusion;
  const receipt = alteredTransaction(random, random.pick(receipts), times.bytes > 0 && random.once(2) ? 1 : 0);
  const its = trieWay(random, index, receipt, ofReceipt ? times.proof : 0);
  fields[5] = its.root;
  return { ...inclusion, receipt: { bytesBase64: toBase64(receipt), nodes: its.nodes.map(toBase64) } };
}

const TYPES = [...Array(8).keys(), 0x0f, 0x10, 0x64, 0x7d, 0x7e, 0x7f, 0x80, 0x81, 0xb8, 0xbf, 0xc0, 0xf8, 0xff];

/** EIP-2718 bytes: another type, another field, another envelope. */
function alteredTransaction(random: Random, bytes: Uint8Array, times: number): Uint8Array {
  if (times === 0) return bytes;
  if (random.once(6)) return nonempty(alterBytes(random, bytes));
  const first = bytes[0] ?? 0;
  try {
    const rest = decodeRlp(first >= 0xc0 ? bytes : bytes.subarray(1)) as Rlp;
    const type = random.once(4)
      ? [random.once(3) ? random.below(256) : random.pick(TYPES)]
      : first >= 0xc0
        ? []
        : [first];
    return Uint8Array.of(...type, ...alteredRlp(random, rest, type[0] === first ? times : random.below(2)));
  } catch {
    return nonempty(alterBytes(random, bytes));
  }
}

function alteredRlp(random: Random, item: Rlp, times: number): Uint8Array {
  let tree = structuredClone(item);
  for (let left = times; left > 0; left--) tree = random.once(30) ? [tree, field(random)] : alterRlp(random, tree);
  return nonempty(times > 0 && random.once(20) ? alterBytes(random, toRlp(tree)) : toRlp(tree));
}

/** The chain that a note may name: mostly what the transaction says. */
function chainOf(random: Random, bytes: Uint8Array, ledger: string): string {
  if (ledger !== ALGORAND_MAINNET || random.once(12)) return random.pick(["eip155:8453", "eip155:8453", "eip155:1"]);
  const id = attempt(() => transactionChainId(decodeBaseTransaction(bytes))) ?? attempt(() => firstField(bytes));
  return `eip155:${id ?? 8453}`;
}

function firstField(bytes: Uint8Array): bigint | undefined {
  const [chainId] = decodeRlp(bytes.subarray(1)) as Rlp[];
  const isQuantity = chainId instanceof Uint8Array && [1, 2, 3, 4].includes(bytes[0] ?? 0);
  return isQuantity ? BigInt(`0x${hex(chainId) || "0"}`) : undefined;
}

function attempt<T>(compute: () => T): T | undefined {
  try {
    return compute();
  } catch {
    return undefined;
  }
}

type Ids = [txnId: string, blockHash: string, height: number];

function members(
  kind: Kind,
  chain: string,
  txn: Uint8Array,
  head: Uint8Array,
  [txnId, blockHash, height]: Ids,
  inclusion?: Json,
) {
  const source = { chain, txnId, hashSha256: hex(hash("sha256", txn)), txnBytesBase64: toBase64(txn) };
  const block = { chain, height, blockHash, headerBase64: toBase64(head), hashSha256: hex(hash("sha256", head)) };
  if (kind === "transaction") return { source };
  return kind === "block" ? { block } : { source, block, inclusion: inclusion as Json };
}

function note(
  kind: Kind,
  txn: Uint8Array,
  head: Uint8Array,
  [txnId, blockHash, height]: Ids,
  c: string,
): Record<string, Json> {
  if (kind === "transaction") return { c, h: hex(hash("sha256", txn)), t: txnId };
  return { b: blockHash, c, h: hex(hash("sha256", head)), n: height };
}
