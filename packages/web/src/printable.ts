/**
 * Text out of files, transactions and services, fit to be shown: control, format (bidi) and separator characters, which
 * could reorder or hide what stands beside them, become their code points.
 */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (character) => {
    return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  });
}

/** Host of an origin, fit to be shown. */
export function hostOf(origin: string): string {
  return printable(URL.parse(origin)?.host ?? origin);
}

/** A long id or hash as two halves of equal length, which stay whole where a line breaks. */
export function halves(id: string): [string, string] {
  const middle = Math.ceil(id.length / 2);
  return [id.slice(0, middle), id.slice(middle)];
}
