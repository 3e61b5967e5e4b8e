import type { Bundle } from "./bundle.ts";
import type { Level } from "./chain-format.ts";
import type { Note } from "./note.ts";

/**
 * Returns how final the source's block was: by an item's statement, else by the note.
 * @param note of the bundle; undefined if it is malformed
 */
export function levelOf(bundle: Bundle, note: Note | undefined): Level | undefined {
  if ("statement" in bundle) return bundle.statement.level;
  return note && "l" in note ? note.l : undefined;
}
