// What a verifier must know of Base: the ids of transactions and blocks, and the way from the one to the other.
import assert from "node:assert/strict";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { MAINNET } from "./keys.mjs";

export const LEVELS = ["included", "safe", "finalized"];

const NETWORK = "eip155:8453";
const keccak = (bytes) => Buffer.from(keccak_256(bytes));
const decode = (text) => Buffer.from(text, "base64");

/** The id and the network of a transaction. A sandbox plays recordings of other chains as Base. */
export function transaction(bytes, ledger) {
  const id = `0x${keccak(bytes).toString("hex")}`;
  const chainId = ledger === MAINNET ? readChainId(bytes) : undefined;
  return { id, network: chainId === undefined ? NETWORK : `eip155:${chainId}` };
}

/** The EIP-155 chain id that the signature covers: none in a deposit, nor in a legacy transaction from before. */
function readChainId(bytes) {
  assert(bytes.length > 0 && bytes[0] !== 0 && (bytes[0] < 0x80 || bytes[0] >= 0xc0), "no EIP-2718 transaction");
  if (bytes[0] >= 0xc0) {
    const v = readInteger(readList(bytes)[6]);
    return v >= 35n ? (v - 35n) / 2n : undefined;
  }
  return [1, 2, 4].includes(bytes[0]) ? readInteger(readList(bytes.subarray(1))[0]) : undefined;
}

/** The hash, the height and the network of a block, from its header. */
export function header(bytes) {
  const { length, 8: number } = readList(bytes);
  assert(length >= 15, "no header");
  return { hash: `0x${keccak(bytes).toString("hex")}`, height: Number(readInteger(number)), network: NETWORK };
}

/** Whether a transaction, and its receipt, are in the block of a header: by the tries that the header commits to. */
export function isIncluded({ index, nodes, receipt }, transaction, header) {
  const { 4: transactionsRoot, 5: receiptsRoot } = readList(header);
  const isIn = (root, nodes, item) => descend(root, index, nodes.map(decode)).equals(item);
  return (
    isIn(transactionsRoot, nodes, transaction) &&
    (receipt === undefined || isIn(receiptsRoot, receipt.nodes, decode(receipt.bytesBase64)))
  );
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

/** The items of a list in RLP. */
function readList(bytes) {
  const list = readItem(bytes, 0);
  assert(list.isList && list.encoded.length === bytes.length, "RLP: not one list");
  const items = [];
  for (let at = 0; at < list.payload.length; at += items.at(-1).encoded.length) items.push(readItem(list.payload, at));
  return items;
}

/** The item at a place, with its payload: everything in its shortest form. */
function readItem(bytes, start) {
  const first = bytes[start];
  const isList = first >= 0xc0;
  let [from, length] = first < 0x80 ? [start, 1] : [start + 1, first - (isList ? 0xc0 : 0x80)];
  if (length > 55) {
    const digits = bytes.subarray(from, from + length - 55);
    from += digits.length;
    length = Number(readInteger({ payload: digits }));
    assert(length > 55, "RLP: not in its shortest form");
  }
  assert(from + length <= bytes.length, "RLP: truncated");
  assert(from === start || isList || length !== 1 || bytes[from] >= 0x80, "RLP: not in its shortest form");
  return { isList, encoded: bytes.subarray(start, from + length), payload: bytes.subarray(from, from + length) };
}

function readInteger({ isList, payload }) {
  assert(!isList && payload[0] !== 0, "RLP: no integer");
  return payload.length === 0 ? 0n : BigInt(`0x${payload.toString("hex")}`);
}
