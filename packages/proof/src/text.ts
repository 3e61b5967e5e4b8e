/**
 * The text if it is short, else its beginning and "…": it bounds what an answer, a report or a log repeats of a stranger's.
 * @param most UTF-16 units; 128, unless given: more than any id, hash or name in a bundle or a request
 */
export function excerpt(text: string, most = 128): string {
  return text.length <= most ? text : `${text.slice(0, most).toWellFormed()}…`;
}

/**
 * Removes every `character`, one UTF-16 unit, from the end of a text, in linear time: `/c+$/` needs quadratic time.
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
