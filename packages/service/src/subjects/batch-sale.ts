import { CHAINS, type ChainFormat, MIN_BATCH_ITEMS } from "@attestd/proof";
import type { ChainName } from "../chains/chain.ts";
import type { Sale } from "../payment/sale.ts";

/**
 * Reads what a batch costs from the body of its request: how many transactions it has, and of which chains. It refuses
 * nothing: where it returns undefined, the whole request has to be read.
 *
 * @param body JSON in UTF-8
 */
export type ReadSale = (body: Uint8Array) => Sale | undefined;

/** So many bytes in a row, each of which `allows` has as 1. */
type Run = { allows: Uint8Array; count: number };
/** A chain's ids, and its name as JSON. */
type Form = { name: ChainName; quoted: Uint8Array; runs: readonly Run[]; length: number };

/** Bytes at the end of an id by which two are compared: where they are the same, the whole request is read. */
const COMPARED_BYTES = 12;
/** In ASCII, turns a capital letter into the small one: a chain may take both for the same. */
const SMALL = 0x20;
/** A power of two. */
const SLOTS = 4096;

const ascii = (text: string): Uint8Array => Buffer.from(text, "latin1");
const [OPEN, CLOSE, OPEN_LIST, CLOSE_LIST, COMMA, QUOTE] = [0x7b, 0x7d, 0x5b, 0x5d, 0x2c, 0x22];
const ITEMS = ascii('"items":');
const REQUIRE = ascii('"require":');
const SUCCEEDED = ascii('"succeeded"');
const TXID = ascii('"txid":');
const CHAIN = ascii('"chain":');

/**
 * Makes a reader that looks at each byte once and makes no values, since anyone may ask for a price. It understands a batch's
 * request without escapes: its members in any order, and space wherever JSON has it but before a colon.
 *
 * @param configured the chains that are attested here
 * @param maxItems what this service takes at once, at most `SLOTS` / 2
 */
export function batchSaleReader(
  configured: ReadonlyMap<ChainName, unknown>,
  maxItems: number,
  chains: readonly ChainFormat[] = CHAINS,
): ReadSale {
  const forms = chains.map(formOf);
  // Any id could be of a chain whose form is not understood.
  if (!forms.every((form) => form !== undefined)) return () => undefined;
  return (body) => {
    const sale = readSale(body, forms, maxItems);
    return sale?.chains.every((name) => configured.has(name)) ? sale : undefined;
  };
}

/* Each step below takes a place in the body and returns the place behind what it has read, or `NOWHERE`. */

/** Behind every body: nothing can be read there. */
const NOWHERE = 2 ** 30;

function readSale(body: Uint8Array, forms: readonly Form[], maxItems: number): Sale | undefined {
  const items: Items = { count: 0, forms: new Set(), last: undefined, seen: new Int32Array(SLOTS) };
  let isRequired = false;
  let at = after(body, 0, OPEN);
  for (;;) {
    const list = items.count === 0 ? afterText(body, at, ITEMS) : NOWHERE;
    if (list !== NOWHERE) at = afterItems(body, list, forms, maxItems, items);
    else if (isRequired) return undefined;
    else {
      isRequired = true;
      at = afterText(body, afterText(body, at, REQUIRE), SUCCEEDED);
    }
    const next = after(body, at, COMMA);
    if (next === NOWHERE) break;
    at = next;
  }
  const end = after(body, at, CLOSE);
  if (end === NOWHERE || afterSpace(body, end) !== body.length || items.count < MIN_BATCH_ITEMS) return undefined;
  return { chains: [...items.forms].map(({ name }) => name).sort(), items: items.count };
}

/** The items that were read. `seen`: a hash of each id, from the slot of its own lowest bits on; 0 where there is none. */
type Items = { count: number; forms: Set<Form>; last: Form | undefined; seen: Int32Array };

function afterItems(body: Uint8Array, start: number, forms: readonly Form[], maxItems: number, items: Items): number {
  let at = after(body, start, OPEN_LIST);
  for (;;) {
    if (items.count === maxItems) return NOWHERE;
    at = afterItem(body, at, forms, items);
    items.count++;
    const next = after(body, at, COMMA);
    if (next === NOWHERE) return after(body, at, CLOSE_LIST);
    at = next;
  }
}

function afterItem(body: Uint8Array, start: number, forms: readonly Form[], items: Items): number {
  let id: Form | undefined;
  let chain: Form | undefined;
  let at = after(body, start, OPEN);
  for (;;) {
    const txid = id ? NOWHERE : after(body, afterText(body, at, TXID), QUOTE);
    if (txid !== NOWHERE) {
      id = formAt(body, txid, forms);
      if (!id || !isNew(body, txid + id.length, items.seen)) return NOWHERE;
      at = txid + id.length + 1;
    } else {
      if (chain) return NOWHERE;
      const name = afterText(body, at, CHAIN);
      at = NOWHERE;
      for (let i = 0; i < forms.length && at === NOWHERE; i++) {
        chain = forms[i] as Form;
        at = afterText(body, name, chain.quoted);
      }
    }
    const next = after(body, at, COMMA);
    if (next === NOWHERE) break;
    at = next;
  }
  if (!id || (chain && chain !== id)) return NOWHERE;
  if (id !== items.last) items.forms.add(id);
  items.last = id;
  return after(body, at, CLOSE);
}

/** The form of the id that begins in a place and ends before a quote. */
function formAt(body: Uint8Array, start: number, forms: readonly Form[]): Form | undefined {
  for (let i = 0; i < forms.length; i++) {
    const form = forms[i] as Form;
    if (body[start + form.length] === QUOTE && fits(body, start, form.runs)) return form;
  }
  return undefined;
}

function fits(body: Uint8Array, start: number, runs: readonly Run[]): boolean {
  let at = start;
  for (let i = 0; i < runs.length; i++) {
    const { allows, count } = runs[i] as Run;
    for (const end = at + count; at < end; at++) if (allows[body[at] as number] !== 1) return false;
  }
  return true;
}

/** Whether no earlier id has the same hash. */
function isNew(body: Uint8Array, end: number, seen: Int32Array): boolean {
  let hash = 1;
  for (let at = end - COMPARED_BYTES; at < end; at++)
    hash = Math.imul(hash ^ ((body[at] as number) | SMALL), 0x01000193);
  hash ||= 1;
  let slot = hash & (SLOTS - 1);
  for (; seen[slot] !== 0; slot = (slot + 1) & (SLOTS - 1)) if (seen[slot] === hash) return false;
  seen[slot] = hash;
  return true;
}

function afterText(body: Uint8Array, start: number, text: Uint8Array): number {
  const at = afterSpace(body, start);
  if (at + text.length > body.length) return NOWHERE;
  for (let i = 0; i < text.length; i++) if (body[at + i] !== text[i]) return NOWHERE;
  return at + text.length;
}

function after(body: Uint8Array, start: number, byte: number): number {
  const at = afterSpace(body, start);
  return at < body.length && body[at] === byte ? at + 1 : NOWHERE;
}

/** Space as JSON has it (RFC 8259, section 2). */
function afterSpace(body: Uint8Array, start: number): number {
  for (let at = start; at < body.length; at++) {
    const byte = body[at] as number;
    if (byte > 0x20 || (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09)) return at;
  }
  return Math.max(start, body.length);
}

/** One part of a pattern: a character, or a class of them, and how often it stands. */
const PART = /(?:\[((?:[0-9A-Za-z](?:-[0-9A-Za-z])?)+)\]|([0-9A-Za-z]))(?:\{(\d+)\})?/y;

/** @returns undefined for ids whose pattern is more than characters and classes, each a fixed number of times */
function formOf({ name, transactionId }: ChainFormat): Form | undefined {
  const { source } = transactionId.requestPattern ?? transactionId.pattern;
  const runs: Run[] = [];
  PART.lastIndex = 1;
  for (let part = PART.exec(source); part; part = PART.exec(source)) {
    const [, members = part[2] as string, , count = "1"] = part;
    runs.push({ allows: allowed(members), count: Number(count) });
    if (PART.lastIndex === source.length - 1) break;
  }
  const length = runs.reduce((sum, { count }) => sum + count, 0);
  const isWhole = source === `^${source.slice(1, PART.lastIndex)}$`;
  return isWhole && length >= COMPARED_BYTES ? { name, quoted: ascii(JSON.stringify(name)), runs, length } : undefined;
}

/** @param members characters, and ranges such as `a-f` */
function allowed(members: string): Uint8Array {
  const allows = new Uint8Array(256);
  for (const [, from = "", to = from] of members.matchAll(/(.)(?:-(.))?/g))
    allows.fill(1, from.charCodeAt(0), to.charCodeAt(0) + 1);
  return allows;
}
