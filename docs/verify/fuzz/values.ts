import { alterItems, type Random } from "./random.ts";

/* Mistakes in the members of a bundle or of a key history, before they are signed. */

export type Json = string | number | boolean | null | Json[] | { [name: string]: Json };
type Place = { of: Record<string | number, Json>; name: string | number };

const VALUES: Json[] = [
  ...[null, true, false, 0, 1, -1, 1.5, 255, 256, 2 ** 31, 2 ** 32, 2 ** 53 - 1, 2 ** 53 - 2, -(2 ** 53) + 1],
  ...[
    "",
    "a",
    "0",
    "1",
    "true",
    "é",
    "\u0000",
    "\u2028",
    "\u{1f600}",
    "\ud800",
    "\udc00x",
    "0x",
    "AAAA",
    "gA==",
    "A===",
    "AA==",
  ],
  ...[
    "algorand",
    "base",
    "toString",
    "__proto__",
    "constructor",
    "block-attestation",
    "tx-inclusion",
    "transaction-attestation",
  ],
  ...[
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAY5HFKQ",
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    "mpt",
    "algorand-merkle",
    "txn",
    "txn256",
    "txn512",
    "ML-DSA-65",
    "ML-DSA-44",
    "algorand-mainnet",
    "attestor-key",
  ],
  ...[[], {}, [""], [[]], [null], { a: 1 }, { "": "" }],
];
const NAMES = [
  "extra",
  "",
  "__proto__",
  "constructor",
  "toString",
  "type",
  "chain",
  "Version",
  "é",
  "version ",
  "\ud800",
  "length",
];
const TYPES = ["block-attestation", "tx-inclusion", "transaction-attestation", "attestor-key", "", 0, null];

/** Changes a member somewhere in a value, which is given to it, and gives its name. */
export function alterValue(random: Random, value: Json): string {
  const { of, name } = random.pick(places(value));
  const old = of[name] as Json;
  const change = random.weigh<() => unknown>([
    [6, () => Object.assign(of, { [name]: respelled(random, old) })],
    [2, () => Object.assign(of, { [name]: random.pick(VALUES) })],
    [1, () => delete of[name]],
    [1, () => add(random, of)],
    [1, () => rename(random, of, String(name))],
  ]);
  change();
  return String(name);
}

function places(value: Json): Place[] {
  if (typeof value !== "object" || value === null) return [];
  const of = value as Record<string, Json>;
  return Object.keys(of).flatMap((name) => [{ of, name }, ...places(of[name] as Json)]);
}

/** A member of its own: an assignment to `__proto__` would add none. */
function add(random: Random, of: Record<string | number, Json>): void {
  if (Array.isArray(of)) return void of.push(random.pick(VALUES));
  const name = random.pick(NAMES);
  const value = name === "type" ? random.pick(TYPES as Json[]) : random.pick(VALUES);
  Object.defineProperty(of, name, { value, enumerable: true, configurable: true, writable: true });
}

function rename(random: Random, of: Record<string | number, Json>, name: string): void {
  const value = of[name] as Json;
  delete of[name];
  const other = random.pick([
    name.toUpperCase(),
    `${name}?`,
    ` ${name}`,
    `${name}\u0000`,
    name.slice(1),
    `${name}\u200b`,
  ]);
  of[other] = value;
}

/** The same value by another spelling, or one that is near it. */
function respelled(random: Random, value: Json): Json {
  if (typeof value === "number")
    return random.pick([value + 1, value - 1, -value, value + 0.5, value * 2 ** 20, String(value), 2 ** 53 - 1]);
  if (typeof value === "string") return respelledText(random, value);
  if (Array.isArray(value)) return respelledList(random, value);
  return value === null || typeof value === "boolean" ? random.pick(VALUES) : Object.entries(value);
}

function respelledList(random: Random, value: Json[]): Json {
  const list = structuredClone(value);
  if (random.once(3)) return Array.from({ length: random.pick([0, 19, 20, 21, 64]) }, () => list[0] ?? "AAAA");
  alterItems(random, list, () => random.pick([...VALUES, ...value]));
  return list;
}

export function respelledText(random: Random, text: string): string {
  const at = random.below(text.length + 1);
  const insert = (what: string) => text.slice(0, at) + what + text.slice(at);
  const replace = (what: string) => text.slice(0, at) + what + text.slice(at + 1);
  const ALPHABET = "ABCXYZ234567abcxyz0189+/=-_";
  return random.pick([
    () =>
      `${text}${random.pick(["\n", "\r\n", " ", "=", "==", "\u0000", "A", "\u2028", "\ufeff", "\v", "\u0085", "\u00a0"])}`,
    () => `${random.pick(["\n", " ", "\ufeff", "\t"])}${text}`,
    () => insert(random.pick(["\n", "\r", " ", "\t", "\f", "\u200b", "=", ...ALPHABET])),
    () => replace(random.pick([...ALPHABET])),
    () => replace(random.pick(["é", "\u0663", "\uff21", "\u0131", "\u212a", "\ud800", "\udfff", "\u{1f600}"])),
    () => text.slice(0, at),
    () => text.slice(1),
    () => text.slice(0, -1),
    () => text.slice(0, -1) + random.pick([...ALPHABET]),
    () => text.replace(/=+$/, ""),
    () => text.replaceAll("+", "-").replaceAll("/", "_"),
    () => text.toUpperCase(),
    () => text.toLowerCase(),
    () => text.replace(/^0x/, "0X"),
    () => text.replace(/^0x/, ""),
    () => text.replace(/.(=*)$/, (last) => String.fromCharCode(last.charCodeAt(0) + 1) + last.slice(1)),
    () => text + text,
    () => [...text].reverse().join(""),
  ])();
}
