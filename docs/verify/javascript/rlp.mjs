// RLP, in which everything has one encoding, and the kinds of fields that Ethereum's structures have.
import assert from "node:assert/strict";

/** Bytes of one length each: an address, a hash, a Bloom filter, a nonce. */
const LENGTHS = { a: 20, h: 32, B: 256, N: 8 };

/**
 * The items of a list, each of the kind that its letter says: besides those above q, a quantity of at most 32 bytes; c,
 * one of at most 8; s, 0 or 1; o, an address or nothing; b, any bytes; l, a list of anything.
 */
export function readFields(bytes, kinds, least = kinds.length, most = kinds.length) {
  const items = readList(bytes);
  assert(items.length >= least && items.length <= most, "RLP: fields too few or too many");
  for (const [index, kind] of [...kinds].slice(0, items.length).entries()) {
    const { isList, payload } = items[index];
    const { length } = payload;
    const isQuantity = payload[0] !== 0 && length <= (kind === "c" ? 8 : 32);
    const isOfKind = /[qc]/.test(kind)
      ? isQuantity
      : kind === "s"
        ? length === 0 || (length === 1 && payload[0] === 1)
        : kind === "b" || length === LENGTHS[kind] || (kind === "o" && [0, 20].includes(length));
    assert(isList ? kind === "l" : kind !== "l" && isOfKind, "RLP: a field of another kind");
  }
  return items;
}

/** The items of a list. */
export function readList(bytes) {
  const { items, encoded } = readItem(bytes, 0, bytes.length, 0);
  assert(items && encoded.length === bytes.length, "RLP: not one list");
  return items;
}

/** The item at a place, with all that is in it: everything in its shortest form. */
function readItem(bytes, start, limit, depth) {
  assert(depth <= 32 && start < limit, "RLP: truncated, or nested deeper than 32");
  const first = bytes[start];
  const isList = first >= 0xc0;
  let [from, length] = first < 0x80 ? [start, 1] : [start + 1, first - (isList ? 0xc0 : 0x80)];
  if (length > 55) {
    const digits = bytes.subarray(from, from + length - 55);
    from += length - 55;
    length = Number(readInteger({ payload: digits }));
    assert(length > 55 && from <= limit, "RLP: not in its shortest form");
  }
  const end = from + length;
  assert(end <= limit, "RLP: truncated");
  assert(from === start || isList || length !== 1 || bytes[from] >= 0x80, "RLP: not in its shortest form");
  const items = isList ? [] : undefined;
  for (let at = from; isList && at < end; at += items.at(-1).encoded.length)
    items.push(readItem(bytes, at, end, depth + 1));
  return { isList, items, encoded: bytes.subarray(start, end), payload: bytes.subarray(from, end) };
}

export function readInteger({ isList, payload }) {
  assert(!isList && payload[0] !== 0, "RLP: no integer");
  return payload.length === 0 ? 0n : BigInt(`0x${payload.toString("hex")}`);
}
