import { printable } from "@attestd/proof/text";

export { ascii, printable } from "@attestd/proof/text";

/** Returns an origin's host, made `printable`. */
export function hostOf(origin: string): string {
  return printable(URL.parse(origin)?.host ?? origin);
}

/** Splits an id or hash into two halves of equal length, so that a line can break between them. */
export function halves(id: string): [string, string] {
  const middle = Math.ceil(id.length / 2);
  return [id.slice(0, middle), id.slice(middle)];
}
