import { shake256 } from "@noble/hashes/sha3.js";
import { utf8 } from "../../encoding.ts";

/*
 * sumhash512: the sum modulo 2^64 of the columns of a matrix at the set bits of the input. Source: algorand/go-sumhash
 * v0.1.0.
 */

export const SUMHASH_LENGTH = 64;
/** The input of one compression: the state and as many bytes of the message. */
const INPUT_LENGTH = 2 * SUMHASH_LENGTH;
const COLUMNS = INPUT_LENGTH * 8;
const ROWS = 8;

/*
 * What sums of columns a table holds, by groups of six bits: 1 MB, which stays in a core's cache. Groups of four make a
 * smaller table and half as many sums again. An entry is 8 sums of 64 bits in 12 doubles. Of two sums x and y the doubles are
 *
 *   x mod 2^45, y mod 2^45, x div 2^45 + 2^27 · (y div 2^45, as a signed number of 19 bits)
 *
 * so that 172 entries, one for each group of the input, are added without any carry: 45 + 8 bits are below 2^53, and so
 * are 27 + 18 + 8 with a sign.
 */
const GROUP = 6;
const GROUP_SIZE = 2 ** GROUP;
/** Four groups are three bytes, by which the input is read: it has one more byte, which stays 0. */
const TRIPLES = Math.ceil(INPUT_LENGTH / 3);
const ENTRY = 12;
const LOW_BITS = 45;
const LOW = 2 ** LOW_BITS;
const FIELD = 2 ** 27;
const WORD = 2 ** 32;

let table: Float64Array | undefined;
/**
 * The input of the current compression: the state and 64 bytes of the message. One buffer is enough, because nothing
 * here is asynchronous.
 */
const input = new Uint8Array(3 * TRIPLES);
const view = new DataView(input.buffer);

function sums(): Float64Array {
  const seed = new Uint8Array([64, 0, ROWS, 0, 0, 4, ...utf8("Algorand")]);
  const matrix = new DataView(shake256(seed, { dkLen: ROWS * COLUMNS * 8 }).buffer);
  const entries = new Float64Array(TRIPLES * 4 * GROUP_SIZE * ENTRY);
  const low = new Float64Array(GROUP_SIZE);
  const high = new Int32Array(GROUP_SIZE);
  for (let group = 0; group < TRIPLES * 4; group++)
    for (let row = 0; row < ROWS; row++)
      for (let bits = 1; bits < GROUP_SIZE; bits++) {
        // The table already has the sum without the lowest bit. Bits past the last column are never set.
        const rest = bits & (bits - 1);
        const column = Math.min(group * GROUP + 31 - Math.clz32(bits ^ rest), COLUMNS - 1);
        const at = (row * COLUMNS + column) * 8;
        // The low part takes 13 bits of a column's upper word, the high part 19.
        const word = matrix.getUint32(at + 4, true);
        const sum = (low[rest] as number) + matrix.getUint32(at, true) + (word & 0x1fff) * WORD;
        const carry = sum < LOW ? 0 : 1;
        low[bits] = sum - carry * LOW;
        high[bits] = ((high[rest] as number) + (word >>> 13) + carry) & 0x7ffff;
        const entry = (group * GROUP_SIZE + bits) * ENTRY + (row >> 1) * 3;
        entries[entry + (row & 1)] = low[bits] as number;
        const field = row & 1 ? (((high[bits] as number) << 13) >> 13) * FIELD : (high[bits] as number);
        entries[entry + 2] = (entries[entry + 2] as number) + field;
      }
  return entries;
}

/** sumhash512, unsalted: 64 bytes. */
export function sumhash512(message: Uint8Array): Uint8Array<ArrayBuffer> {
  table ??= sums();
  input.fill(0, 0, SUMHASH_LENGTH);
  const whole = message.length - (message.length % SUMHASH_LENGTH);
  for (let offset = 0; offset < whole; offset += SUMHASH_LENGTH) compress(table, message, offset);
  const end = padded(message.subarray(whole), message.length);
  for (let offset = 0; offset < end.length; offset += SUMHASH_LENGTH) compress(table, end, offset);
  return input.slice(0, SUMHASH_LENGTH);
}

/**
 * Pads the rest of a message: 0x01, zeros up to a full block, and the message's length in bits: 16 bytes,
 * little-endian.
 */
function padded(rest: Uint8Array, length: number): Uint8Array {
  const bytes = new Uint8Array(rest.length + 1 + 16 > SUMHASH_LENGTH ? 2 * SUMHASH_LENGTH : SUMHASH_LENGTH);
  bytes.set(rest);
  bytes[rest.length] = 1;
  new DataView(bytes.buffer).setBigUint64(bytes.length - 16, BigInt(length) * 8n, true);
  return bytes;
}

/**
 * Compresses the next 64 bytes of the message into the state. The twelve sums are locals that start from the table's
 * own zeros: with an array, or with a literal 0, which V8 treats as an integer, this is three times slower.
 */
function compress(entries: Float64Array, message: Uint8Array, offset: number): void {
  for (let place = 0; place < SUMHASH_LENGTH; place++)
    input[SUMHASH_LENGTH + place] = message[offset + place] as number;
  let s0 = entries[0] as number;
  let s1 = entries[1] as number;
  let s2 = entries[2] as number;
  let s3 = entries[3] as number;
  let s4 = entries[4] as number;
  let s5 = entries[5] as number;
  let s6 = entries[6] as number;
  let s7 = entries[7] as number;
  let s8 = entries[8] as number;
  let s9 = entries[9] as number;
  let s10 = entries[10] as number;
  let s11 = entries[11] as number;
  for (let triple = 0; triple < TRIPLES; triple++) {
    const place = 3 * triple;
    const low = (input[place] as number) | ((input[place + 1] as number) << 8);
    const bits = low | ((input[place + 2] as number) << 16);
    if (bits === 0) continue;
    const first = triple * 4 * GROUP_SIZE;
    const a = (first + (bits & 63)) * ENTRY;
    const b = (first + GROUP_SIZE + ((bits >> 6) & 63)) * ENTRY;
    const c = (first + 2 * GROUP_SIZE + ((bits >> 12) & 63)) * ENTRY;
    const d = (first + 3 * GROUP_SIZE + (bits >> 18)) * ENTRY;
    s0 += sumOf(entries, a, b, c, d);
    s1 += sumOf(entries, a + 1, b + 1, c + 1, d + 1);
    s2 += sumOf(entries, a + 2, b + 2, c + 2, d + 2);
    s3 += sumOf(entries, a + 3, b + 3, c + 3, d + 3);
    s4 += sumOf(entries, a + 4, b + 4, c + 4, d + 4);
    s5 += sumOf(entries, a + 5, b + 5, c + 5, d + 5);
    s6 += sumOf(entries, a + 6, b + 6, c + 6, d + 6);
    s7 += sumOf(entries, a + 7, b + 7, c + 7, d + 7);
    s8 += sumOf(entries, a + 8, b + 8, c + 8, d + 8);
    s9 += sumOf(entries, a + 9, b + 9, c + 9, d + 9);
    s10 += sumOf(entries, a + 10, b + 10, c + 10, d + 10);
    s11 += sumOf(entries, a + 11, b + 11, c + 11, d + 11);
  }
  putPair(0, s0, s1, s2);
  putPair(16, s3, s4, s5);
  putPair(32, s6, s7, s8);
  putPair(48, s9, s10, s11);
}

/** Adds four doubles of the table. V8 inlines it into `compress`, so that it costs nothing. */
function sumOf(entries: Float64Array, a: number, b: number, c: number, d: number): number {
  return (entries[a] as number) + (entries[b] as number) + (entries[c] as number) + (entries[d] as number);
}

/** Writes two sums modulo 2^64, little-endian. `setUint32` takes its number modulo 2^32. */
function putPair(at: number, x: number, y: number, high: number): void {
  view.setUint32(at, x, true);
  view.setUint32(at + 4, ((high & (FIELD - 1)) << (LOW_BITS - 32)) + Math.floor(x / WORD), true);
  view.setUint32(at + 8, y, true);
  view.setUint32(at + 12, (Math.floor(high / FIELD) << (LOW_BITS - 32)) + Math.floor(y / WORD), true);
}
