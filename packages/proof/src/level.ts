import type { Bundle } from "./bundle.ts";
import type { Level } from "./chain-format.ts";
import type { Note } from "./note.ts";

/**
 * How sure the chain of the source was: by an item's statement, else by the note.
 * @param note of the bundle; undefined where it is malformed
 */
export function levelOf(bundle: Bundle, note: Note | undefined): Level | undefined {
  if ("statement" in bundle) return bundle.statement.level;
  return note && "l" in note ? note.l : undefined;
}
