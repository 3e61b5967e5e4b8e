import { fromHex, toHex } from "../encoding.ts";
import { malformed } from "../errors.ts";

/** An item of Recursive Length Prefix (Ethereum yellow paper, appendix B). */
export type RlpItem = Uint8Array | RlpItem[];

/** A depth that no header, transaction, receipt or trie node reaches. */
const MAX_DEPTH = 32;

/** Returns the only RLP encoding of an item. */
export function encodeRlp(item: RlpItem): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(encodedLength(item));
  write(item, bytes, 0);
  return bytes;
}

function encodedLength(item: RlpItem): number {
  if (!Array.isArray(item) && isOwnEncoding(item)) return 1;
  const length = payloadLength(item);
  return prefixLength(length) + length;
}

function payloadLength(item: RlpItem): number {
  if (!Array.isArray(item)) return item.length;
  let length = 0;
  for (const member of item) length += encodedLength(member);
  return length;
}

/** A single byte below 0x80 has no prefix. */
function isOwnEncoding(bytes: Uint8Array): boolean {
  return bytes.length === 1 && (bytes[0] as number) < 0x80;
}

/** @returns the offset after the item */
function write(item: RlpItem, target: Uint8Array, offset: number): number {
  if (Array.isArray(item)) {
    let end = writePrefix(0xc0, payloadLength(item), target, offset);
    for (const member of item) end = write(member, target, end);
    return end;
  }
  const start = isOwnEncoding(item) ? offset : writePrefix(0x80, item.length, target, offset);
  target.set(item, start);
  return start + item.length;
}

/** @param payload below 2^32 */
function prefixLength(payload: number): number {
  return payload <= 55 ? 1 : 5 - Math.floor(Math.clz32(payload) / 8);
}

/** @param kind 0x80 for a byte string, 0xc0 for a list @returns the payload's offset */
function writePrefix(kind: number, length: number, target: Uint8Array, offset: number): number {
  const digits = prefixLength(length) - 1;
  target[offset] = digits === 0 ? kind + length : kind + 55 + digits;
  for (let digit = digits, rest = length; digit > 0; digit--, rest = Math.floor(rest / 256))
    target[offset + digit] = rest;
  return offset + 1 + digits;
}

/** Decodes one item. Byte strings are views of the input, not copies. @throws ProofError `malformed` */
export function decodeRlp(bytes: Uint8Array): RlpItem {
  const { item, end } = decodeAt(bytes, 0, bytes.length, 0);
  if (end !== bytes.length) throw malformed(`rlp: trailing bytes at offset ${end}`);
  return item;
}

/** Decodes one list. @throws ProofError `malformed` */
export function decodeRlpList(bytes: Uint8Array): RlpItem[] {
  const item = decodeRlp(bytes);
  if (!Array.isArray(item)) throw malformed("rlp: not a list");
  return item;
}

function decodeAt(bytes: Uint8Array, start: number, limit: number, depth: number): { item: RlpItem; end: number } {
  if (depth > MAX_DEPTH) throw malformed(`rlp: nested deeper than ${MAX_DEPTH}`);
  const prefix = bytes[start];
  if (prefix === undefined || start >= limit) throw malformed(`rlp: truncated at offset ${start}`);
  if (prefix < 0x80) return { item: bytes.subarray(start, start + 1), end: start + 1 };
  const isList = prefix >= 0xc0;
  const { from, end } = payload(bytes, start, limit, prefix - (isList ? 0xc0 : 0x80));
  if (!isList) {
    const [only = 0x80] = bytes.subarray(from, end);
    if (end - from === 1 && only < 0x80) throw malformed(`rlp: a single byte with a prefix at offset ${start}`);
    return { item: bytes.subarray(from, end), end };
  }
  const items: RlpItem[] = [];
  for (let offset = from; offset < end; ) {
    const next = decodeAt(bytes, offset, end, depth + 1);
    items.push(next.item);
    offset = next.end;
  }
  return { item: items, end };
}

/** Returns where an item's payload lies. @param size the prefix without its kind */
function payload(bytes: Uint8Array, start: number, limit: number, size: number): { from: number; end: number } {
  if (size <= 55) return within(start + 1, size, limit);
  const { from, end } = within(start + 1, size - 55, limit);
  const length = decodeQuantity(bytes.subarray(from, end));
  if (length <= 55n) throw malformed(`rlp: a length not in its shortest form at offset ${start}`);
  return within(end, Number(length), limit);
}

function within(from: number, length: number, limit: number): { from: number; end: number } {
  if (length > limit - from) throw malformed(`rlp: truncated at offset ${from}`);
  return { from, end: from + length };
}

/** Encodes a non-negative integer as RLP does: big-endian, in the fewest bytes, zero as no bytes. */
export function encodeQuantity(value: bigint | number): Uint8Array<ArrayBuffer> {
  const hex = value.toString(16);
  return value === 0 || value === 0n ? new Uint8Array() : fromHex(hex.length % 2 ? `0${hex}` : hex);
}

/** Whether an item is a quantity of at most `maxLength` bytes. */
export function isQuantity(item: RlpItem | undefined, maxLength = 32): item is Uint8Array {
  return item instanceof Uint8Array && item.length <= maxLength && item[0] !== 0;
}

/** The integer of a quantity. @throws ProofError `malformed` when it begins with a zero byte. */
export function decodeQuantity(bytes: Uint8Array): bigint {
  if (bytes[0] === 0) throw malformed("rlp: an integer begins with zero");
  return bytes.length === 0 ? 0n : BigInt(`0x${toHex(bytes)}`);
}
