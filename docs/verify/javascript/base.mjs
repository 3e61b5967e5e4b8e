// What a verifier must know of Base: the ids of transactions and blocks, and the way from the one to the other.
import assert from "node:assert/strict";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { MAINNET } from "./keys.mjs";
import { readFields, readInteger, readList } from "./rlp.mjs";

export const LEVELS = ["included", "safe", "finalized"];
/** Whether a transaction that failed stands in a block. */
export const CAN_FAIL = true;

const NETWORK = "eip155:8453";
const keccak = (bytes) => Buffer.from(keccak_256(bytes));
const decode = (text) => Buffer.from(text, "base64");

/** The fields of each type of transaction: legacy, EIP-2930, EIP-1559, EIP-4844, EIP-7702, a deposit of the OP Stack. */
const TRANSACTIONS = {
  0: "qqqoqbqqq",
  1: "cqqqoqblqqq",
  2: "cqqqqoqblqqq",
  3: "cqqqqaqblqlqqq",
  4: "cqqqqaqbllqqq",
  126: "haoqqqqb",
};
const HEADER = "hhahhhBqqqqqbhNqhqqhhhq";

/** The id and the network of a transaction. A sandbox plays recordings of other chains as Base. */
export function transaction(bytes, ledger) {
  const id = `0x${keccak(bytes).toString("hex")}`;
  const chainId = readChainId(bytes);
  return { id, network: chainId === undefined || ledger !== MAINNET ? NETWORK : `eip155:${chainId}` };
}

/** The EIP-2718 type of a transaction or a receipt: a legacy one has no byte for it. */
function typeOf([first]) {
  assert(first > 0 && (first < 0x80 || first >= 0xc0), "no EIP-2718 envelope");
  return first >= 0xc0 ? 0 : first;
}

/** The EIP-155 chain id that the signature covers: none in a deposit, nor in a legacy transaction from before. */
function readChainId(bytes) {
  const type = typeOf(bytes);
  if (!(type in TRANSACTIONS)) return undefined; // opaque
  const fields = readFields(type === 0 ? bytes : bytes.subarray(1), TRANSACTIONS[type]);
  if (type > 0) return type === 126 ? undefined : readInteger(fields[0]);
  const v = readInteger(fields[6]);
  assert(v < 2n ** 65n + 35n, "a chain id of 2^64 or more");
  return v < 35n ? undefined : (v - 35n) / 2n;
}

/** The hash, the height and the network of a block, from its header. */
export function header(bytes) {
  const height = Number(readInteger(readFields(bytes, HEADER, 15, Number.POSITIVE_INFINITY)[8]));
  assert(height < 2 ** 53, "a height of 2^53 or more");
  return { hash: `0x${keccak(bytes).toString("hex")}`, height, network: NETWORK };
}

/** Whether a transaction, and its receipt, are in the block of a header: by the tries that the header commits to. */
export function isIncluded({ index, nodes, receipt }, transaction, head) {
  assert(header(head));
  const { 4: transactionsRoot, 5: receiptsRoot } = readList(head);
  const isIn = (root, nodes, item) => descend(root, index, nodes.map(decode)).equals(item);
  if (!isIn(transactionsRoot, nodes, transaction)) return false;
  if (receipt === undefined) return true;
  const bytes = decode(receipt.bytesBase64);
  return isIn(receiptsRoot, receipt.nodes, bytes) && receiptStatus(bytes, transaction) !== undefined;
}

/** What became of a transaction by its receipt, which is of the same type: status, gas used, Bloom filter, logs. */
export function receiptStatus(receipt, transaction) {
  const type = typeOf(receipt);
  assert(type === typeOf(transaction), "a receipt of another type");
  if (!(type in TRANSACTIONS)) return "unknown"; // opaque
  const kinds = type === 126 ? "sqBlqq" : "sqBl"; // a deposit's nonce and its receipt's version, in later blocks
  const [status] = readFields(type === 0 ? receipt : receipt.subarray(1), kinds, 4);
  return status.payload.length === 1 ? "succeeded" : "failed";
}

/** Down a Merkle-Patricia trie, whose every node names the next: what stands under the key rlp(index). */
function descend(root, index, nodes) {
  const digits = index === 0 ? "" : index.toString(16);
  const quantity = digits.padStart(digits.length + (digits.length % 2), "0");
  let key = index > 0 && index < 0x80 ? quantity : (0x80 + quantity.length / 2).toString(16) + quantity;
  let named = root;
  let item;
  for (const node of nodes) {
    const isNext = named.isList
      ? named.encoded.length < 32 && named.encoded.equals(node)
      : keccak(node).equals(named.payload);
    assert(isNext && item === undefined, "not the node that its parent names");
    const items = readList(node);
    assert(items.length === 17 || (items.length === 2 && !items[0].isList), "no node");
    const isBranch = items.length === 17;
    // Hex-prefix encoding: 0 or 1 of an extension, 2 or 3 of a leaf; odd ones hold a nibble of the path.
    const [, flag, path] = isBranch
      ? ["", "1", key.slice(0, 1)]
      : /^([13]|[02]0)(.*)$/.exec(items[0].payload.toString("hex"));
    assert(key.startsWith(path) && (path || flag === "20"), "the path of another key");
    key = key.slice(path.length);
    named = isBranch ? items[Number.parseInt(path, 16)] : items[1];
    if (/^[23]/.test(flag)) {
      assert(key === "" && !named.isList, "no leaf of this key");
      item = named.payload;
    }
  }
  return item;
}
