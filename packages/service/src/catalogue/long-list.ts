import { MAX_BATCH_ITEMS } from "@attestd/proof";
import type { TakenArray } from "@attestd/proof/json";

/** Items of a list that is read, and their members. */
export const MAX_LIST_MEMBERS = 3 * MAX_BATCH_ITEMS;

/** Commas in a list from which on it is left unread. */
const MAX_COMMAS = 64;

const [QUOTE, BACKSLASH, COMMA, OPEN, CLOSE] = [0x22, 0x5c, 0x2c, 0x5b, 0x5d];

/**
 * A long list of transactions in a request, as text: reading all of it costs as much as fifty requests, and the price, for which
 * anyone may ask, needs the ids alone. `JSON.stringify` takes it for an object without members.
 */
export class LongList {
  readonly #json: string;
  readonly #txids: readonly string[];

  constructor(json: string, txids: readonly string[]) {
    this.#json = json;
    this.#txids = txids;
  }

  /** From bracket to bracket. What is between them may be no JSON. */
  get json(): string {
    return this.#json;
  }

  /** What stands behind each `"txid"`, in their order. */
  get txids(): readonly string[] {
    return this.#txids;
  }
}

/**
 * Takes an array as a `LongList`. It looks for no fault: a list that is read later is read strictly.
 *
 * @param offset of its opening bracket
 * @returns undefined where it is short, or has no end
 */
export function takeLongList(text: string, offset: number): TakenArray | undefined {
  const txids: string[] = [];
  let depth = 0;
  let commas = 0;
  let isTxid = false;
  for (let at = offset; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (character === QUOTE) {
      const start = at + 1;
      // An id is longer than the names, so that a search for its end costs less than to look at its characters.
      const found = isTxid ? text.indexOf('"', start) : -1;
      at = found !== -1 && text.charCodeAt(found - 1) !== BACKSLASH ? found : endOfString(text, start);
      if (isTxid) txids.push(text.slice(start, at));
      isTxid = !isTxid && at - start === 4 && text.startsWith("txid", start);
    } else if (character === COMMA) commas++;
    else if (character === OPEN) depth++;
    else if (character === CLOSE && --depth === 0) {
      const end = at + 1;
      return commas > MAX_COMMAS ? { value: new LongList(text.slice(offset, end), txids), end } : undefined;
    }
  }
  return undefined;
}

/** Where the quote is that ends a string, or the text's length or more. @param start behind the quote that begins it */
function endOfString(text: string, start: number): number {
  let at = start;
  while (at < text.length && text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at;
}
