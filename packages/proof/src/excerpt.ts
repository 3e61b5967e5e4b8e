/** Longer than any id, hash or name that a bundle or a request of ours has. */
const LONGEST = 128;

/**
 * A text as it may be repeated in an answer, a report or a log: whole up to 128 UTF-16 units, else its beginning and "…".
 * So nothing that a stranger wrote comes back, or is kept, at a length that the stranger chose.
 */
export function excerpt(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST).toWellFormed()}…`;
}
