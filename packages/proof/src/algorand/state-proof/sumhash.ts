import { shake256 } from "@noble/hashes/sha3.js";
import { utf8 } from "../../encoding.ts";

/* sumhash512: a sum modulo 2^64 of those columns of a matrix whose bits are set. Source: algorand/go-sumhash v0.1.0. */

export const SUMHASH_LENGTH = 64;
/** A compression takes the state and as many bytes of the message. */
const INPUT_LENGTH = 2 * SUMHASH_LENGTH;
const ROWS = 8;

/*
 * What sums of columns a table holds, by half bytes: 393 KB, which stays in a core's cache, where sums by whole bytes would
 * not. An entry is 8 sums of 64 bits in 12 doubles. Of two sums x and y the doubles are
 *
 *   x mod 2^45, y mod 2^45, x div 2^45 + 2^27 · (y div 2^45, as a signed number of 19 bits)
 *
 * so that 256 entries, one for each half byte of the input, are added without any carry: 45 + 8 bits are below 2^53, and so
 * are 27 + 18 + 8 with a sign.
 */
const ENTRY = 12;
const LOW_BITS = 45;
const FIELD_BITS = 27;
const FIELD = 2 ** FIELD_BITS;
const WORD = 2 ** 32;

let table: Float64Array | undefined;
/** What is being compressed: the state, and 64 bytes of the message. One for all, since nothing here is asynchronous. */
const input = new Uint8Array(INPUT_LENGTH);
const view = new DataView(input.buffer);

function sums(): Float64Array {
  const seed = new Uint8Array([64, 0, ROWS, 0, 0, 4, ...utf8("Algorand")]);
  const matrix = new DataView(shake256(seed, { dkLen: ROWS * INPUT_LENGTH * 8 * 8 }).buffer);
  const column = (row: number, bit: number) => matrix.getBigUint64((row * INPUT_LENGTH * 8 + bit) * 8, true);
  const entries = new Float64Array(INPUT_LENGTH * 2 * 16 * ENTRY);
  const sumsOfRow = (row: number, half: number) => {
    const of = [0n];
    for (let bit = 0; bit < 4; bit++)
      for (const sum of [...of]) of.push(BigInt.asUintN(64, sum + column(row, half * 4 + bit)));
    return of;
  };
  const low = (sum: bigint) => Number(BigInt.asUintN(LOW_BITS, sum));
  const high = (sum: bigint) => sum >> BigInt(LOW_BITS);
  for (let half = 0; half < INPUT_LENGTH * 2; half++)
    for (let pair = 0; pair < ROWS / 2; pair++) {
      const [x, y] = [sumsOfRow(2 * pair, half), sumsOfRow(2 * pair + 1, half)];
      for (let value = 0; value < 16; value++) {
        const [a, b] = [x[value] as bigint, y[value] as bigint];
        const signed = BigInt.asIntN(64 - LOW_BITS, high(b));
        entries.set([low(a), low(b), Number(high(a)) + Number(signed) * FIELD], (half * 16 + value) * ENTRY + pair * 3);
      }
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

/** The rest of a message, 0x01, zeros up to a whole number of blocks, and its length in bits: 16 bytes, little-endian. */
function padded(rest: Uint8Array, length: number): Uint8Array {
  const bytes = new Uint8Array(rest.length + 1 + 16 > SUMHASH_LENGTH ? 2 * SUMHASH_LENGTH : SUMHASH_LENGTH);
  bytes.set(rest);
  bytes[rest.length] = 1;
  new DataView(bytes.buffer).setBigUint64(bytes.length - 16, BigInt(length) * 8n, true);
  return bytes;
}

/**
 * Replaces the state by the hash of it and the next 64 bytes of the message. The twelve sums are locals that begin as the
 * table's own zeros: an array, or a literal 0, which V8 takes for an integer, makes this three times slower.
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
  for (let place = 0; place < INPUT_LENGTH; place++) {
    const byte = input[place] as number;
    if (byte === 0) continue;
    const low = place * 32 * ENTRY;
    const a = low + (byte & 15) * ENTRY;
    const b = low + (16 + (byte >> 4)) * ENTRY;
    s0 += (entries[a] as number) + (entries[b] as number);
    s1 += (entries[a + 1] as number) + (entries[b + 1] as number);
    s2 += (entries[a + 2] as number) + (entries[b + 2] as number);
    s3 += (entries[a + 3] as number) + (entries[b + 3] as number);
    s4 += (entries[a + 4] as number) + (entries[b + 4] as number);
    s5 += (entries[a + 5] as number) + (entries[b + 5] as number);
    s6 += (entries[a + 6] as number) + (entries[b + 6] as number);
    s7 += (entries[a + 7] as number) + (entries[b + 7] as number);
    s8 += (entries[a + 8] as number) + (entries[b + 8] as number);
    s9 += (entries[a + 9] as number) + (entries[b + 9] as number);
    s10 += (entries[a + 10] as number) + (entries[b + 10] as number);
    s11 += (entries[a + 11] as number) + (entries[b + 11] as number);
  }
  putPair(0, s0, s1, s2);
  putPair(16, s3, s4, s5);
  putPair(32, s6, s7, s8);
  putPair(48, s9, s10, s11);
}

/** Writes two sums modulo 2^64, little-endian. `setUint32` takes its number modulo 2^32. */
function putPair(at: number, x: number, y: number, high: number): void {
  view.setUint32(at, x, true);
  view.setUint32(at + 4, ((high & (FIELD - 1)) << (LOW_BITS - 32)) + Math.floor(x / WORD), true);
  view.setUint32(at + 8, y, true);
  view.setUint32(at + 12, (Math.floor(high / FIELD) << (LOW_BITS - 32)) + Math.floor(y / WORD), true);
}
