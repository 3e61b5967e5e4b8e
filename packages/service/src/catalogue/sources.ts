import { SOURCE_CHAINS } from "../chains/registry.ts";
import { RAILS } from "../payment/rails/registry.ts";

/* Names, patterns and texts for schemas and documents, derived from the registries of source chains and rails. */

const FORMATS = SOURCE_CHAINS.map(({ format }) => format);
const LABELS = FORMATS.map(({ label }) => label);

/** The names of the chains in requests and bundles. */
export const NAMES = FORMATS.map(({ name }) => name);

/** For people: `Algorand and Base`. */
export const EVERY_CHAIN = listed("conjunction", LABELS);
/** For people: `Algorand or Base`. */
export const ANY_CHAIN = listed("disjunction", LABELS);
/** For people: `must be "algorand" or "base"`. */
export const EXPECTED_NAME = `must be ${listed(
  "disjunction",
  NAMES.map((name) => JSON.stringify(name)),
)}`;

/** Joins a text about each chain, such as `Algorand: 52 base32 characters. Base: 0x and 64 hex.` */
export function ofEachChain(text: (format: (typeof FORMATS)[number]) => string): string {
  return FORMATS.map((format) => `${format.label}: ${text(format)}.`).join(" ");
}

/** Returns the pattern of all transaction ids, or block hashes, in bundles. */
export function bundlePattern(form: "transactionId" | "blockHash"): RegExp {
  return anyOf(FORMATS.map((format) => format[form].pattern));
}

/** The pattern of all transaction ids that a request may use. */
export const REQUEST_ID = anyOf(
  FORMATS.map(({ transactionId: { pattern, requestPattern = pattern } }) => requestPattern),
);

/** The error after the name of a member that is not a transaction id. */
export const EXPECTED_ID = `is not a transaction id: ${listed(
  "disjunction",
  FORMATS.map(({ transactionId, label }) => `${transactionId.description} (${label})`),
)}`;

/** @param patterns anchored, without flags */
function anyOf(patterns: readonly RegExp[]): RegExp {
  return new RegExp([...new Set(patterns.map(({ source }) => source))].join("|"));
}

/** The rails whose wallets we help: they have no node of their own. */
export const HELPED = RAILS.flatMap(({ label, wallets }) => (wallets ? [{ label, wallets }] : []));
/** For people: `Algorand or Solana`. */
export const ANY_HELPED = listed(
  "disjunction",
  HELPED.map(({ label }) => label),
);

/** Joins items like Intl.ListFormat in English, which would add 15 ms to a start. */
export function listed(type: "conjunction" | "disjunction", items: readonly string[]): string {
  const word = type === "conjunction" ? "and" : "or";
  if (items.length < 3) return items.join(` ${word} `);
  return `${items.slice(0, -1).join(", ")}, ${word} ${items.at(-1)}`;
}
