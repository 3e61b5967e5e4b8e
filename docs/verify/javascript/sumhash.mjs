// sumhash512, as github.com/algorand/go-sumhash has it: sums modulo 2^64 of the columns of a matrix.
import { createHash } from "node:crypto";

const ROWS = 8;
const INPUT = 128; // bytes: the state, 64, and as many of the message

/** Of each byte of the input, and each value of it, the sums of the eight rows. Made when they are first needed. */
let sums;
function table() {
  const matrix = new DataView(
    new Uint8Array(
      createHash("shake256", { outputLength: ROWS * INPUT * 64 })
        .update(Buffer.from([64, 0, ROWS, 0, 0, 4])) // bits of a sum, rows, columns
        .update("Algorand")
        .digest(),
    ).buffer,
  );
  const found = new BigUint64Array(INPUT * 256 * ROWS);
  for (let place = 0; place < INPUT; place++)
    for (let value = 1; value < 256; value++)
      for (let row = 0; row < ROWS; row++) {
        const bit = 31 - Math.clz32(value);
        const column = matrix.getBigUint64((row * INPUT * 8 + place * 8 + bit) * 8, true);
        const rest = found[(place * 256 + (value ^ (1 << bit))) * ROWS + row];
        found[(place * 256 + value) * ROWS + row] = rest + column; // the array takes it modulo 2^64
      }
  return found;
}

/** 64 bytes. */
export function sumhash(...parts) {
  sums ??= table();
  const message = Buffer.concat(parts);
  const padded = Buffer.alloc(Math.ceil((message.length + 17) / 64) * 64);
  message.copy(padded);
  padded[message.length] = 1;
  padded.writeBigUInt64LE(BigInt(message.length) * 8n, padded.length - 16);
  const state = Buffer.alloc(64);
  for (let start = 0; start < padded.length; start += 64) {
    const input = Buffer.concat([state, padded.subarray(start, start + 64)]);
    const found = new BigUint64Array(ROWS);
    for (let place = 0; place < INPUT; place++) {
      const at = (place * 256 + input[place]) * ROWS;
      for (let row = 0; row < ROWS; row++) found[row] += sums[at + row];
    }
    for (let row = 0; row < ROWS; row++) state.writeBigUInt64LE(found[row], row * 8);
  }
  return state;
}
