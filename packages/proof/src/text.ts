/**
 * Cuts a text for an answer, a report or a log: whole if short, else its beginning and "…". So a stranger cannot choose
 * the length of what is repeated or kept.
 * @param most UTF-16 units; 128, unless given: longer than any id, hash or name that a bundle or a request of ours has
 */
export function excerpt(text: string, most = 128): string {
  return text.length <= most ? text : `${text.slice(0, most).toWellFormed()}…`;
}

/**
 * Removes the run of `character` at the end of a text. Reads it once, from its end: the pattern `/c+$/` is tried again at
 * each `c`, and takes minutes for a megabyte of them.
 * @param character one UTF-16 unit
 */
export function withoutTrailing(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end--;
  return text.slice(0, end);
}

/** An amount of a token's smallest units in whole tokens, without trailing zeros: 1000 of a token of 6 decimals is `0.001`. */
export function formatUnits(units: bigint, decimals: number): string {
  const digits = units.toString().padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = withoutTrailing(digits.slice(whole.length), "0");
  return fraction === "" ? whole : `${whole}.${fraction}`;
}
