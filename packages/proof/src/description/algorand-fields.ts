import { encodeAddress, type MsgpackMap, type MsgpackValue, RawString } from "../algorand/index.ts";
import { fromUtf8, toBase64, toHex } from "../encoding.ts";
import { attempt } from "../errors.ts";
import { excerpt } from "../text.ts";
import { algoAmount } from "./amounts.ts";
import type { Field } from "./description.ts";

/** Members by their codec names (go-algorand, `data/transactions`), in the order of display. */
const LABELS: ReadonlyMap<string, string> = new Map([
  ["snd", "Sender"],
  ["rcv", "Receiver"],
  ["arcv", "Receiver"],
  ["asnd", "Taken from"],
  ["amt", "Amount"],
  ["aamt", "Amount"],
  ["xaid", "Asset"],
  ["close", "Rest of the account goes to"],
  ["aclose", "Rest of the asset goes to"],
  ["rekey", "Account handed to"],
  ["fadd", "Frozen account"],
  ["faid", "Asset"],
  ["afrz", "Frozen"],
  ["caid", "Asset"],
  ["apid", "Application"],
  ["apan", "On completion"],
  ["fee", "Fee"],
  ["fv", "Valid from round"],
  ["lv", "Valid to round"],
  ["gen", "Network"],
  ["gh", "Genesis hash"],
  ["grp", "Group"],
  ["lx", "Lease"],
  ["note", "Note"],
]);
const ADDRESSES = new Set(["snd", "rcv", "arcv", "asnd", "close", "aclose", "rekey", "fadd"]);
const MICRO_ALGOS = new Set(["amt", "fee"]);
/** Enough for a note of 4096 bytes as text. A state proof is longer, and is cut. */
const MAX_VALUE_CHARACTERS = 5000;

/** Every member of a transaction, the known ones first. */
export function algorandFields(transaction: MsgpackMap): Field[] {
  const known = [...LABELS.keys()].filter((name) => transaction.has(name));
  const names = new Set([...known, ...[...transaction.keys()].map(String)]);
  return [...names].map((name) => ({
    label: LABELS.get(name) ?? name,
    value: excerpt(show(name, transaction.get(name) ?? null), MAX_VALUE_CHARACTERS),
  }));
}

function show(name: string, value: MsgpackValue): string {
  if (value instanceof Uint8Array) {
    if (ADDRESSES.has(name) && value.length === 32) return encodeAddress(value);
    return name === "note" ? (attempt("malformed", () => fromUtf8(value)) ?? toHex(value)) : toBase64(value);
  }
  if (value instanceof RawString) return toHex(value.bytes);
  if (MICRO_ALGOS.has(name) && (typeof value === "number" || typeof value === "bigint"))
    return algoAmount(BigInt(value)).text;
  if (Array.isArray(value)) return value.map((item) => show("", item)).join(", ");
  if (value instanceof Map) return [...value].map(([key, member]) => `${String(key)}: ${show("", member)}`).join("; ");
  return String(value);
}
