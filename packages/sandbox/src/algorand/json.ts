import {
  decodeAddress,
  encodeAddress,
  type MsgpackKey,
  type MsgpackMap,
  type MsgpackValue,
  RawString,
} from "@attestd/proof/algorand";
import { fromBase64, toBase32, toBase64 } from "@attestd/proof/encoding";
import type { Json } from "../json.ts";
import { goText } from "./members.ts";

const TRANSACTION_ADDRESSES = ["snd", "rcv", "close", "asnd", "arcv", "aclose", "fadd", "rekey"];

/**
 * Byte strings that algod's JSON writes as addresses, by the member that contains their map ("" is the outermost). All
 * others are base64. Elements of an array count as the array's member.
 */
const ADDRESSES: Record<string, string[]> = {
  "": ["sgnr", "fees", "rwd", "prp", "partupdrmv", "partupdabs"],
  block: ["fees", "rwd", "prp", "partupdrmv", "partupdabs"],
  txns: ["sgnr"],
  itx: ["sgnr"],
  txn: [...TRANSACTION_ADDRESSES, "apat", "sgnr"],
  apar: ["m", "r", "f", "c"],
  hb: ["a"],
  al: ["d"],
};

/**
 * Returns a block or transaction in algod's JSON: the same members as in msgpack, byte strings as base64, addresses as
 * text, and `prev` as `blk-` and base32. Invalid UTF-8 is replaced like in Go.
 */
export function algodJson(value: MsgpackValue, holder = "", name: MsgpackKey = ""): Json {
  if (value instanceof Uint8Array) {
    if (name === "prev") return `blk-${toBase32(value)}`;
    const isAddress = value.length === 32 && ADDRESSES[holder]?.includes(String(name));
    return isAddress ? encodeAddress(value) : toBase64(value);
  }
  if (value instanceof RawString) return goText(value);
  if (Array.isArray(value)) return value.map((item) => algodJson(item, holder, name));
  if (!(value instanceof Map)) return value;
  // A map within an array belongs to the array's member; an integer key names no member.
  const inner = typeof name === "string" ? name : holder;
  return Object.fromEntries([...value].map(([key, item]) => [goText(key), algodJson(item, inner, key)]));
}

const JSON_ADDRESSES = new Set([...TRANSACTION_ADDRESSES, "sgnr", "m", "r", "f", "c"]);
const JSON_TEXTS = new Set(["type", "gen", "un", "an", "au"]);

/**
 * Reads a signed transaction's msgpack map from algod's JSON, for simulate. Only members of types that this ledger
 * rejects are ambiguous.
 * @throws DecodeError when a member is not an address, text or base64 as its name requires
 */
export function fromAlgodJson(value: Json, name = ""): MsgpackValue {
  if (typeof value === "string") {
    if (JSON_ADDRESSES.has(name)) return decodeAddress(value);
    return JSON_TEXTS.has(name) ? value : fromBase64(value);
  }
  if (Array.isArray(value)) return value.map((item) => fromAlgodJson(item, name));
  if (value === null || typeof value !== "object") return value;
  const map: MsgpackMap = new Map();
  for (const [key, item] of Object.entries(value)) if (item !== undefined) map.set(key, fromAlgodJson(item, key));
  return map;
}
