/** What a program header of an ELF file says of a part to load. */
const PT_LOAD = 1;

/**
 * Cuts from a 64-bit little-endian ELF executable what is there for debuggers and linkers alone: everything after the last
 * part that is loaded, and the table of sections, which no loader reads. `strip` does the same, for one kind of processor.
 *
 * @throws Error when it is of another kind
 */
export function trimmed(file: Uint8Array): Uint8Array {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  if (view.getUint32(0) !== 0x7f454c46 || view.getUint16(4) !== 0x0201) throw new Error("not a 64-bit ELF executable");
  const headers = {
    at: Number(view.getBigUint64(32, true)),
    size: view.getUint16(54, true),
    count: view.getUint16(56, true),
  };
  let end = headers.at + headers.size * headers.count;
  for (let i = 0; i < headers.count; i++) {
    const at = headers.at + i * headers.size;
    if (view.getUint32(at, true) !== PT_LOAD) continue;
    end = Math.max(end, Number(view.getBigUint64(at + 8, true) + view.getBigUint64(at + 32, true)));
  }
  if (end > file.length) throw new Error("the file is shorter than its program headers say");
  const kept = file.slice(0, end);
  const written = new DataView(kept.buffer);
  // e_shoff, e_shnum, e_shstrndx
  written.setBigUint64(40, 0n, true);
  written.setUint32(60, 0, true);
  return kept;
}
