import { ALGORAND_MAINNET } from "@attestd/proof";
import { decodeBaseTransaction, decodeRlp, transactionChainId } from "@attestd/proof/base";
import { toBase64 } from "@attestd/proof/encoding";
import { keccak_256 } from "@noble/hashes/sha3.js";
import type { Corpus } from "./corpus.ts";
import { trieWay } from "./proofs.ts";
import { alterBytes, type Random } from "./random.ts";
import { alterRlp, field, quantity, type Rlp, toRlp } from "./rlp.ts";
import { type Alterations, hex, type Kind, type Subject, subjectOf } from "./subjects.ts";
import type { Json } from "./values.ts";

/* Of Base: transactions, receipts, headers and proofs with mistakes, and ids that are right for them. */

const idOf = (bytes: Uint8Array) => `0x${hex(keccak_256(bytes))}`;

export function baseSubject(random: Random, { base }: Corpus, kind: Kind, ledger: string, times: Alterations): Subject {
  const atHeader = kind === "block" || (kind === "inclusion" && random.once(3));
  const txn = alteredTransaction(random, random.pick(base.transactions), atHeader ? 0 : times.bytes);
  const fields = [...(decodeRlp(random.pick(base.headers)) as Rlp[])];
  let inclusion: Json | undefined;
  if (kind === "inclusion") inclusion = trieInclusion(random, base.receipts, txn, fields, times);
  const height = random.once(10) ? random.pick([0, 127, 128, 2 ** 53 - 1]) : 46_000_000;
  fields[8] = quantity(height);
  const head = atHeader ? alteredRlp(random, fields, times.bytes) : toRlp(fields);
  const made = { txn, txnId: idOf(txn), head, blockHash: idOf(head), height, inclusion };
  const network = kind === "transaction" ? chainOf(random, txn, ledger) : "eip155:8453";
  return subjectOf(kind, "base", { ...made, network, levels: ["finalized", "finalized", "included", "safe"] });
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
  const right = random.once(4) ? random.pick(receipts) : ofType(random.pick(receipts), txn);
  const receipt = alteredTransaction(random, right, times.bytes > 0 && random.once(2) ? 1 : 0);
  const its = trieWay(random, index, receipt, ofReceipt ? times.proof : 0);
  fields[5] = its.root;
  return { ...inclusion, receipt: { bytesBase64: toBase64(receipt), nodes: its.nodes.map(toBase64) } };
}

/** The receipt as one of a transaction's type. */
function ofType(receipt: Uint8Array, [type = 0]: Uint8Array): Uint8Array {
  const rest = (receipt[0] ?? 0) < 0x80 ? receipt.subarray(1) : receipt;
  if (type < 0x80) return Uint8Array.of(type, ...rest);
  return rest.length > 0 ? rest : toRlp([]);
}

const TYPES = [...Array(8).keys(), 0x0f, 0x10, 0x64, 0x7d, 0x7e, 0x7f, 0x80, 0x81, 0xb8, 0xbf, 0xc0, 0xf8, 0xff];

/** EIP-2718 bytes: another type, another field, another envelope. */
function alteredTransaction(random: Random, bytes: Uint8Array, times: number): Uint8Array {
  if (times === 0) return bytes;
  if (random.once(6)) return alterBytes(random, bytes);
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
    return alterBytes(random, bytes);
  }
}

function alteredRlp(random: Random, item: Rlp, times: number): Uint8Array {
  let tree = structuredClone(item);
  for (let left = times; left > 0; left--) tree = random.once(30) ? [tree, field(random)] : alterRlp(random, tree);
  return times > 0 && random.once(20) ? alterBytes(random, toRlp(tree)) : toRlp(tree);
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
