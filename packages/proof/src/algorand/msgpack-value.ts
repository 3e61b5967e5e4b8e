import { malformed } from "../errors.ts";

/**
 * Algorand's msgpack as raw maps, which keep every field, known or not: bytes of a newer node still hash to their id.
 *
 * | msgpack | here |
 * |---|---|
 * | `str` that is UTF-8 | `string` |
 * | `str` that is not (asset names may be any bytes) | `RawString` |
 * | `bin` | `Uint8Array` |
 * | integers to 2^53 - 1 | `number` |
 * | integers from 2^53 to 2^64 - 1 | `bigint` |
 * | map | `Map`, keyed by `str` or, as some Go maps are, by integer |
 * | array, bool, nil | array, boolean, null |
 *
 * Each msgpack value has one image and each image one canonical encoding. Floats, extensions and negative integers are
 * refused: Algorand uses none.
 */
export type MsgpackValue =
  | string
  | RawString
  | Uint8Array
  | number
  | bigint
  | boolean
  | null
  | MsgpackValue[]
  | MsgpackMap;
export type MsgpackKey = string | RawString | number | bigint;
export type MsgpackMap = Map<MsgpackKey, MsgpackValue>;

/** A msgpack `str` whose bytes are not UTF-8. */
export class RawString {
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }
}

/**
 * The map of a Go struct under `codec:",omitempty"`, without undefined and empty members (`isEmpty`). Pass undefined for a
 * zero digest or address, which is also empty to Go.
 */
export function structMap(members: Record<string, MsgpackValue | undefined>): MsgpackMap {
  const map: MsgpackMap = new Map();
  for (const [name, value] of Object.entries(members)) if (value !== undefined && !isEmpty(value)) map.set(name, value);
  return map;
}

/** Whether Go's `omitempty` omits the value: nil, 0, false, or an empty string, byte string, array or map. */
export function isEmpty(value: MsgpackValue): boolean {
  if (value === null || value === 0 || value === 0n || value === false || value === "") return true;
  if (value instanceof Map) return value.size === 0;
  return (value instanceof Uint8Array || Array.isArray(value)) && value.length === 0;
}

/** The member as a map; undefined when absent. @throws ProofError `malformed` when it is of another type. */
export function getMap(map: MsgpackMap, key: MsgpackKey): MsgpackMap | undefined {
  const value = map.get(key);
  if (value === undefined || value instanceof Map) return value;
  throw malformed(`msgpack: ${String(key)} is not a map`);
}

/** The member as bytes; undefined when absent. @throws ProofError `malformed` when it is of another type or length. */
export function getBytes(map: MsgpackMap, key: MsgpackKey, length?: number): Uint8Array | undefined {
  const value = map.get(key);
  if (value === undefined) return undefined;
  if (value instanceof Uint8Array && (length === undefined || value.length === length)) return value;
  throw malformed(`msgpack: ${String(key)} is not ${length === undefined ? "bytes" : `${length} bytes`}`);
}

/** The member as text; undefined when absent. @throws ProofError `malformed` when it is of another type or not UTF-8. */
export function getString(map: MsgpackMap, key: MsgpackKey): string | undefined {
  const value = map.get(key);
  if (value === undefined || typeof value === "string") return value;
  throw malformed(`msgpack: ${String(key)} is not a string`);
}

/** The member as an integer; 0n when absent, as Go reads it. @throws ProofError `malformed` when it is of another type. */
export function getInteger(map: MsgpackMap, key: MsgpackKey): bigint {
  const value = map.get(key);
  if (value === undefined) return 0n;
  if (typeof value === "number" || typeof value === "bigint") return BigInt(value);
  throw malformed(`msgpack: ${String(key)} is not an integer`);
}
