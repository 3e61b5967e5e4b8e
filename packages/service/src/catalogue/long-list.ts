import { MAX_BATCH_ITEMS } from "@attestd/proof";
import type { TakenArray } from "@attestd/proof/json";

/** The limit of a list's items and their members together. */
export const MAX_LIST_MEMBERS = 3 * MAX_BATCH_ITEMS;

/** The number of commas from which a list is not parsed at first. */
const MAX_COMMAS = 64;

const [QUOTE, BACKSLASH, COMMA, OPEN, CLOSE] = [0x22, 0x5c, 0x2c, 0x5b, 0x5d];

/**
 * A request's long list of transactions, as text. Parsing all of it costs as much as fifty requests, and the price, for
 * which anyone may ask, needs only the ids. `JSON.stringify` treats it as an object without members.
 */
export class LongList {
  readonly #json: string;
  /** The offsets at which each id begins and ends, alternating. */
  readonly #ids: readonly number[];

  constructor(json: string, ids: readonly number[]) {
    this.#json = json;
    this.#ids = ids;
  }

  /** The text from bracket to bracket, which may not be valid JSON. */
  get json(): string {
    return this.#json;
  }

  get length(): number {
    return this.#ids.length / 2;
  }

  /** The values of all `"txid"` members, in order. */
  get txids(): string[] {
    return Array.from({ length: this.length }, (_, place) => this.#txid(place));
  }

  /** The first id of each combination of length and first character, with its index in the list. */
  get samples(): Map<number, string> {
    const places = new Map<number, number>();
    for (let place = 0; place < this.length; place++) {
      const [start = 0, end = 0] = [this.#ids[2 * place], this.#ids[2 * place + 1]];
      const kind = (end - start) * 0x10000 + this.#json.charCodeAt(start);
      if (!places.has(kind)) places.set(kind, place);
    }
    return new Map([...places.values()].map((place) => [place, this.#txid(place)]));
  }

  #txid(place: number): string {
    return this.#json.slice(this.#ids[2 * place], this.#ids[2 * place + 1]);
  }
}

/**
 * Takes an array as a `LongList`, without looking for faults: the list is parsed strictly when it is read.
 * @param offset of its opening bracket
 * @returns undefined if it is short, or has no end
 */
export function takeLongList(text: string, offset: number): TakenArray | undefined {
  const ids: number[] = [];
  let depth = 0;
  let commas = 0;
  let isTxid = false;
  let last = { end: text.length, depth: 0, commas: 0 };
  for (let at = offset; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (character === QUOTE) {
      let start = at + 1;
      at = isTxid ? endOfId(text, start) : endOfString(text, start);
      if (isTxid) {
        // Most items are alike: if the text after an id equals the text after the previous one, its structure is known.
        const between = depth === last.depth ? text.slice(last.end, start) : "";
        const more = commas - last.commas;
        ids.push(start - offset, at - offset);
        while (between !== "" && text.slice(at, at + between.length) === between) {
          start = at + between.length;
          at = endOfId(text, start);
          ids.push(start - offset, at - offset);
          commas += more;
        }
        last = { end: at, depth, commas };
      }
      isTxid = !isTxid && at - start === 4 && text.startsWith("txid", start);
    } else if (character === COMMA) commas++;
    else if (character === OPEN) depth++;
    else if (character === CLOSE && --depth === 0) {
      const end = at + 1;
      return commas > MAX_COMMAS ? { value: new LongList(text.slice(offset, end), ids), end } : undefined;
    }
  }
  return undefined;
}

/**
 * Does the same as `endOfString`, faster for a long string: searching for a quote is cheaper than looking at each
 * character.
 */
function endOfId(text: string, start: number): number {
  const found = text.indexOf('"', start);
  return found !== -1 && text.charCodeAt(found - 1) !== BACKSLASH ? found : endOfString(text, start);
}

/**
 * Returns the offset of the quote that ends a string, or at least the text's length if there is none. @param start
 * after the opening quote
 */
function endOfString(text: string, start: number): number {
  let at = start;
  while (at < text.length && text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at;
}
