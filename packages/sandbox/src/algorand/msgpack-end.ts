/** Bytes of a value's content, after its first byte and length, by the first byte. */
const FIXED: Record<number, number> = {
  192: 0,
  194: 0,
  195: 0,
  202: 4,
  203: 8,
  204: 1,
  205: 2,
  206: 4,
  207: 8,
  208: 1,
  209: 2,
  210: 4,
  211: 8,
};

/** Bytes of the length, by the first byte, and what the length counts. */
const COUNTED: Record<number, [bytes: number, of: "bytes" | "items" | "pairs"]> = {
  196: [1, "bytes"],
  197: [2, "bytes"],
  198: [4, "bytes"],
  217: [1, "bytes"],
  218: [2, "bytes"],
  219: [4, "bytes"],
  220: [2, "items"],
  221: [4, "items"],
  222: [2, "pairs"],
  223: [4, "pairs"],
};

/**
 * The offset after the msgpack value that begins at `start`; undefined when the bytes end before it. Extension types count
 * as one byte, because no decoder here takes them.
 */
export function msgpackEnd(bytes: Uint8Array, start: number): number | undefined {
  let offset = start;
  for (let values = 1; values > 0; values--) {
    const type = bytes[offset];
    if (type === undefined) return undefined;
    offset += 1;
    const [lengthBytes, of] = COUNTED[type] ?? [0, shortKind(type)];
    let count = type >= 0x80 && type < 0x90 ? type & 0x0f : type >= 0x90 && type < 0xa0 ? type & 0x0f : type & 0x1f;
    if (lengthBytes > 0) {
      if (offset + lengthBytes > bytes.length) return undefined;
      count = bytes.subarray(offset, offset + lengthBytes).reduce((sum, byte) => sum * 256 + byte, 0);
      offset += lengthBytes;
    }
    if (of === "bytes") offset += count;
    else if (of === "items") values += count;
    else if (of === "pairs") values += 2 * count;
    else offset += FIXED[type] ?? 0;
    if (offset > bytes.length) return undefined;
  }
  return offset;
}

function shortKind(type: number): "bytes" | "items" | "pairs" | "fixed" {
  if (type >= 0x80 && type < 0x90) return "pairs";
  if (type >= 0x90 && type < 0xa0) return "items";
  return type >= 0xa0 && type < 0xc0 ? "bytes" : "fixed";
}
