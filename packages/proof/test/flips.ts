/** The bytes with one bit changed. */
export function flip(bytes: Uint8Array, bit: number): Uint8Array {
  const changed = bytes.slice();
  changed[bit >> 3] = (changed[bit >> 3] as number) ^ (1 << (bit & 7));
  return changed;
}

/** Every change of one bit of some bytes, or of every `step`-th. */
export function* flipped(bytes: Uint8Array, step = 1): Generator<Uint8Array> {
  for (let bit = 0; bit < bytes.length * 8; bit += step) yield flip(bytes, bit);
}
