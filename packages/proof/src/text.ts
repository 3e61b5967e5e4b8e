/**
 * Returns a short text as it is, and of a long one the beginning and "…". It bounds how much of a stranger's text an
 * answer, a report or a log repeats.
 * @param most UTF-16 units; default 128, more than any id, hash or name in a bundle or a request
 */
export function excerpt(text: string, most = 128): string {
  return text.length <= most ? text : `${text.slice(0, most).toWellFormed()}…`;
}

/** Whether a host is this machine. @param host name or address without a port; IPv6 with or without brackets */
export function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/.test(host);
}

/**
 * Removes every `character`, one UTF-16 unit, from the end of a text in linear time; `/c+$/` would take quadratic time.
 */
export function withoutTrailing(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end--;
  return text.slice(0, end);
}

/**
 * Formats smallest units as whole tokens, without trailing zeros: 1000 units of a token with 6 decimals are `0.001`.
 */
export function formatUnits(units: bigint, decimals: number): string {
  const digits = units.toString().padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = withoutTrailing(digits.slice(whole.length), "0");
  return fraction === "" ? whole : `${whole}.${fraction}`;
}

/**
 * Formats an amount for people, with thousands grouped: 25000000 units of a token with 6 decimals are `25.00` if at
 * least 2 are shown.
 * @param least decimals that are shown even when zero
 */
export function groupedUnits(units: bigint, decimals: number, least = 0): string {
  const [whole = "", fraction = ""] = formatUnits(units, decimals).split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  const shown = fraction.padEnd(least, "0");
  return shown === "" ? grouped : `${grouped}.${shown}`;
}

/**
 * Makes text from files, transactions and services safe to show: replaces control, format (bidi) and separator
 * characters, which could hide or reorder other text, with their code points.
 */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, codePoint);
}

/** Makes text `printable`, and replaces every other character outside ASCII with its code point, too. */
export function ascii(text: string): string {
  return printable(text).replace(/[^\x20-\x7e]/gu, codePoint);
}

function codePoint(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

/** Formats a time for people, in UTC: `2026-11-21 14:03:07 UTC`. @param seconds Unix time, of any size */
export function utcTime(seconds: number): string {
  const time = new Date(seconds * 1000);
  if (Number.isNaN(time.getTime())) return `${seconds} s after 1970`;
  return `${time.toISOString().slice(0, -5).replace("T", " ")} UTC`;
}

/** English on every machine, because certificates must be the same everywhere. */
export const MONTHS: readonly string[] =
  "January February March April May June July August September October November December".split(" ");
