import { getBytes, getMap, type MsgpackMap, type MsgpackValue } from "@attestd/proof/algorand";
import { toBase64 } from "@attestd/proof/encoding";

/** A member's bytes in base64; undefined when absent. @throws ProofError `malformed` when it is of another type */
export function base64(map: MsgpackMap, key: string): string | undefined {
  const bytes = getBytes(map, key);
  return bytes && toBase64(bytes);
}

/** A member that is a map; empty when absent. @throws ProofError `malformed` when it is of another type */
export function part(map: MsgpackMap, key: string): MsgpackMap {
  return getMap(map, key) ?? new Map();
}

/** The value if it is a map, else an empty one. */
export function asMap(value: MsgpackValue | undefined): MsgpackMap {
  return value instanceof Map ? value : new Map();
}

/** The value if it is a list, else an empty one. */
export function listOf(value: MsgpackValue | undefined): MsgpackValue[] {
  return Array.isArray(value) ? value : [];
}
