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

/**
 * An amount for people, its thousands grouped: 25000000 of a token of 6 decimals, at least 2 of them shown, is `25.00`.
 * @param least decimals that are shown even when zero
 */
export function groupedUnits(units: bigint, decimals: number, least = 0): string {
  const [whole = "", fraction = ""] = formatUnits(units, decimals).split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  const shown = fraction.padEnd(least, "0");
  return shown === "" ? grouped : `${grouped}.${shown}`;
}

/**
 * Makes text from files, transactions and services safe to show: control, format (bidi) and separator characters, which
 * could hide or reorder other text, are replaced by their code points.
 */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, codePoint);
}

/** `printable` text in which every character that is not ASCII is replaced by its code point too. */
export function ascii(text: string): string {
  return printable(text).replace(/[^\x20-\x7e]/gu, codePoint);
}

function codePoint(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

/** A time for people, in UTC: `2026-11-21 14:03:07 UTC`. @param seconds Unix time, of any size */
export function utcTime(seconds: number): string {
  const time = new Date(seconds * 1000);
  if (Number.isNaN(time.getTime())) return `${seconds} s after 1970`;
  return `${time.toISOString().slice(0, -5).replace("T", " ")} UTC`;
}

/** English on every machine, as certificates are. */
export const MONTHS: readonly string[] =
  "January February March April May June July August September October November December".split(" ");
