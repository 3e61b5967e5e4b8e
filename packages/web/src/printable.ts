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

/** Host of an origin, `printable`. */
export function hostOf(origin: string): string {
  return printable(URL.parse(origin)?.host ?? origin);
}

/** Splits an id or hash in two halves of equal length, between which a line may break. */
export function halves(id: string): [string, string] {
  const middle = Math.ceil(id.length / 2);
  return [id.slice(0, middle), id.slice(middle)];
}
