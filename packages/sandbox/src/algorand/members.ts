import { getBytes, getMap, type MsgpackMap, type MsgpackValue, RawString } from "@attestd/proof/algorand";
import { toBase64, utf8 } from "@attestd/proof/encoding";
import { getAddress, ZERO_ADDRESS } from "./transaction.ts";

/** A member's bytes in base64; undefined when absent. @throws ProofError `malformed` when it is of another type */
export function base64(map: MsgpackMap, key: string): string | undefined {
  const bytes = getBytes(map, key);
  return bytes && toBase64(bytes);
}

/** A member that is a map; empty when absent. @throws ProofError `malformed` when it is of another type */
export function part(map: MsgpackMap, key: string): MsgpackMap {
  return getMap(map, key) ?? new Map();
}

/** Returns the value if it is a map, else an empty map. */
export function asMap(value: MsgpackValue | undefined): MsgpackMap {
  return value instanceof Map ? value : new Map();
}

/** Returns the value if it is a list, else an empty list. */
export function listOf(value: MsgpackValue | undefined): MsgpackValue[] {
  return Array.isArray(value) ? value : [];
}

/** Returns the address of a byte string; the zero address for anything else. */
export function addressOf(value: MsgpackValue | undefined): string {
  return value instanceof Uint8Array ? (getAddress(new Map([["", value]]), "") ?? ZERO_ADDRESS) : ZERO_ADDRESS;
}

/** Returns base64 of a byte string, or of a text of any bytes such as a log; empty for anything else. */
export function bytesJson(value: MsgpackValue | undefined): string {
  if (value instanceof Uint8Array) return toBase64(value);
  if (value instanceof RawString) return toBase64(value.bytes);
  return typeof value === "string" ? toBase64(utf8(value)) : "";
}

/** Prints a text of any bytes, or an integer, like Go: invalid UTF-8 is replaced. */
export function goText(value: MsgpackValue | undefined = ""): string {
  return value instanceof RawString ? new TextDecoder().decode(value.bytes) : String(value);
}
