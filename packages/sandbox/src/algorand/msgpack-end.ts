import { MsgpackCursor } from "@attestd/proof/algorand";
import { attempt } from "@attestd/proof/errors";

/** Bytes after the first one of floats and signed integers, by that one. */
const FIXED: Record<number, number> = { 202: 4, 203: 8, 208: 1, 209: 2, 210: 4, 211: 8 };

/** Walks over what Algorand does not use too. Extension types count as one byte, because no decoder here takes them. */
class AnyValueCursor extends MsgpackCursor {
  protected override skipUnused(type: number): void {
    this.pass(FIXED[type] ?? 0);
  }
}

/** The offset after the msgpack value that begins at `start`; undefined when the bytes end before it. */
export function msgpackEnd(bytes: Uint8Array, start: number): number | undefined {
  const cursor = new AnyValueCursor(bytes.subarray(start));
  return attempt("malformed", () => start + cursor.value().length);
}
