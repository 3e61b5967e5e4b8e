import { MsgpackCursor } from "@attestd/proof/algorand";
import { attempt } from "@attestd/proof/errors";

/** The number of bytes after the type byte of floats and signed integers, by type byte. */
const FIXED: Record<number, number> = { 202: 4, 203: 8, 208: 1, 209: 2, 210: 4, 211: 8 };

/**
 * Also walks over types that Algorand does not use. Extension types count as one byte, because no decoder here accepts
 * them.
 */
class AnyValueCursor extends MsgpackCursor {
  protected override skipUnused(type: number): void {
    this.pass(FIXED[type] ?? 0);
  }
}

/** Returns the offset after the msgpack value that begins at `start`; undefined when the bytes end before it. */
export function msgpackEnd(bytes: Uint8Array, start: number): number | undefined {
  const cursor = new AnyValueCursor(bytes.subarray(start));
  return attempt("malformed", () => start + cursor.value().length);
}
