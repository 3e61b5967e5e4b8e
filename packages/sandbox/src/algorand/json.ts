import { type MsgpackKey, type MsgpackMap, type MsgpackValue, RawString } from "@attestd/proof/algorand/msgpack";
import { decodeAddress, encodeAddress } from "@attestd/proof/algorand/transaction";
import { fromBase64, toBase32, toBase64 } from "@attestd/proof/encoding";

/** What JSON can say, with 64-bit integers as bigint. */
export type Json = string | number | bigint | boolean | null | Json[] | { [name: string]: Json | undefined };

/** JSON text in which every integer keeps its digits. */
export function jsonText(value: Json): string {
  return JSON.stringify(value, (_key, member) => (typeof member === "bigint" ? rawNumber(member) : member));
}

/** Parses JSON whose integers may exceed 2^53: those become bigint. @throws SyntaxError */
export function parseJson(text: string): Json {
  return JSON.parse(text, keepDigits as (key: string, value: unknown) => unknown);
}

// In Node since 21, but not in TypeScript's libraries yet.
function rawNumber(value: bigint): unknown {
  return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(value.toString());
}

function keepDigits(_key: string, value: unknown, { source }: { source?: string }): unknown {
  const cut =
    typeof value === "number" && source !== undefined && !Number.isSafeInteger(value) && /^-?\d+$/.test(source);
  return cut ? BigInt(source) : value;
}

const TRANSACTION_ADDRESSES = ["snd", "rcv", "close", "asnd", "arcv", "aclose", "fadd", "rekey"];

/**
 * Byte strings that algod's JSON writes as addresses, by the member that holds their map ("" is the outermost); all
 * others are base64. In arrays the array's own name counts.
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
 * A block or transaction as algod's JSON gives it: the same members as in msgpack, byte strings as base64, addresses as
 * text, and `prev` as `blk-` and base32. Text that is not UTF-8 is mended as Go mends it.
 */
export function algodJson(value: MsgpackValue, holder = "", name: MsgpackKey = ""): Json {
  if (value instanceof Uint8Array) {
    if (name === "prev") return `blk-${toBase32(value)}`;
    const isAddress = value.length === 32 && ADDRESSES[holder]?.includes(String(name));
    return isAddress ? encodeAddress(value) : toBase64(value);
  }
  if (value instanceof RawString) return new TextDecoder().decode(value.bytes);
  if (Array.isArray(value)) return value.map((item) => algodJson(item, holder, name));
  if (!(value instanceof Map)) return value;
  // A map within an array belongs to the array's member; an integer key names no member.
  const inner = typeof name === "string" ? name : holder;
  return Object.fromEntries([...value].map(([key, item]) => [keyText(key), algodJson(item, inner, key)]));
}

function keyText(key: MsgpackKey): string {
  return key instanceof RawString ? new TextDecoder().decode(key.bytes) : String(key);
}

const JSON_ADDRESSES = new Set([...TRANSACTION_ADDRESSES, "sgnr", "m", "r", "f", "c"]);
const JSON_TEXTS = new Set(["type", "gen", "un", "an", "au"]);

/**
 * The msgpack map of a signed transaction in algod's JSON, as simulate takes it. Members that could not be told apart
 * are those of types which this ledger refuses anyway.
 * @throws DecodeError on a member that is neither address, text nor base64 where one belongs.
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
