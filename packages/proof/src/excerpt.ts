/**
 * A text as it may be repeated in an answer, a report or a log: whole where it is short, else its beginning and "…". So
 * nothing that a stranger wrote comes back, or is kept, at a length that the stranger chose.
 * @param most UTF-16 units; 128, unless given: longer than any id, hash or name that a bundle or a request of ours has
 */
export function excerpt(text: string, most = 128): string {
  return text.length <= most ? text : `${text.slice(0, most).toWellFormed()}…`;
}
