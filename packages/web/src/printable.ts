import { printable } from "@attestd/proof/text";

export { ascii, printable } from "@attestd/proof/text";

/** Host of an origin, `printable`. */
export function hostOf(origin: string): string {
  return printable(URL.parse(origin)?.host ?? origin);
}

/** Splits an id or hash in two halves of equal length, between which a line may break. */
export function halves(id: string): [string, string] {
  const middle = Math.ceil(id.length / 2);
  return [id.slice(0, middle), id.slice(middle)];
}
