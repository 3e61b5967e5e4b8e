import { equalBytes, fromUtf8, toHex } from "../encoding.ts";
import { attempt, malformed } from "../errors.ts";
import { excerpt } from "../text.ts";
import { MsgpackBytes } from "./msgpack-bytes.ts";
import { type MsgpackKey, type MsgpackMap, type MsgpackValue, RawString } from "./msgpack-value.ts";
import { encodeMsgpack } from "./msgpack-writer.ts";

/** A depth that no block reaches: eight levels of inner transactions take four containers each. */
const MAX_DEPTH = 64;

/** Decodes one value. Byte strings are views of the input, not copies. @throws ProofError `malformed` */
export function decodeMsgpack(bytes: Uint8Array): MsgpackValue {
  const reader = new Reader(bytes);
  const value = reader.value(0);
  if (!reader.done) throw malformed(`msgpack: trailing bytes at offset ${reader.offset}`);
  return value;
}

/** Decodes one map. @throws ProofError `malformed` */
export function decodeMsgpackMap(bytes: Uint8Array): MsgpackMap {
  const value = decodeMsgpack(bytes);
  if (!(value instanceof Map)) throw malformed("msgpack: not a map");
  return value;
}

/**
 * Decodes one map, like `decodeMsgpackMap`. @throws ProofError `malformed` also for bytes that are not the map's
 * canonical encoding
 */
export function decodeCanonicalMap(bytes: Uint8Array): MsgpackMap {
  const map = decodeMsgpackMap(bytes);
  if (!equalBytes(encodeMsgpack(map), bytes)) throw malformed("msgpack: not canonical");
  return map;
}

/** Whether the bytes are one value in its canonical encoding. */
export function isCanonicalMsgpack(bytes: Uint8Array): boolean {
  const value = attempt("malformed", () => decodeMsgpack(bytes));
  return value !== undefined && equalBytes(encodeMsgpack(value), bytes);
}

class Reader extends MsgpackBytes {
  get done(): boolean {
    return this.offset === this.bytes.length;
  }

  value(depth: number): MsgpackValue {
    if (depth > MAX_DEPTH) throw malformed(`msgpack: nested deeper than ${MAX_DEPTH}`);
    const type = this.uint(1);
    if (type < 0x80) return type;
    if (type < 0x90) return this.#map(type & 0x0f, depth);
    if (type < 0xa0) return this.#array(type & 0x0f, depth);
    if (type < 0xc0) return this.#string(type & 0x1f);
    switch (type) {
      case 0xc0:
        return null;
      case 0xc2:
        return false;
      case 0xc3:
        return true;
      case 0xc4:
      case 0xc5:
      case 0xc6:
        return this.#take(this.uint(1 << (type - 0xc4)));
      case 0xcc:
      case 0xcd:
      case 0xce:
        return this.uint(1 << (type - 0xcc));
      case 0xcf:
        return narrow(this.view.getBigUint64(this.pass(8)));
      case 0xd9:
      case 0xda:
      case 0xdb:
        return this.#string(this.uint(1 << (type - 0xd9)));
      case 0xdc:
      case 0xdd:
        return this.#array(this.uint(2 << (type - 0xdc)), depth);
      case 0xde:
      case 0xdf:
        return this.#map(this.uint(2 << (type - 0xde)), depth);
      default:
        throw malformed(`msgpack: type 0x${type.toString(16)} at offset ${this.offset - 1} is not used by Algorand`);
    }
  }

  #map(size: number, depth: number): MsgpackMap {
    const map: MsgpackMap = new Map();
    let rawKeys: Set<string> | undefined;
    for (let index = 0; index < size; index++) {
      const key = this.#key(depth + 1);
      if (key instanceof RawString) {
        // A Map compares objects by identity, so keys that are raw bytes are compared here.
        rawKeys ??= new Set();
        const seen = rawKeys.size;
        if (rawKeys.add(toHex(key.bytes)).size === seen) throw malformed("msgpack: duplicate key");
      } else if (map.has(key)) throw malformed(`msgpack: duplicate key ${JSON.stringify(excerpt(String(key)))}`);
      map.set(key, this.value(depth + 1));
    }
    return map;
  }

  #key(depth: number): MsgpackKey {
    const key = this.value(depth);
    if (typeof key === "string" || typeof key === "number" || typeof key === "bigint" || key instanceof RawString)
      return key;
    throw malformed("msgpack: a map key is neither a string nor an integer");
  }

  #array(length: number, depth: number): MsgpackValue[] {
    const items: MsgpackValue[] = [];
    // Not pre-sized: a length is only a claim until its items have been read.
    for (let index = 0; index < length; index++) items.push(this.value(depth + 1));
    return items;
  }

  #string(length: number): string | RawString {
    const bytes = this.#take(length);
    // Most strings are short ASCII field names, for which a TextDecoder call costs more than this loop.
    let text = "";
    for (const byte of bytes) {
      if (byte > 0x7f || length > 32) return decodeString(bytes);
      text += String.fromCharCode(byte);
    }
    return text;
  }

  #take(length: number): Uint8Array {
    const start = this.pass(length);
    return this.bytes.subarray(start, start + length);
  }
}

function decodeString(bytes: Uint8Array): string | RawString {
  return attempt("malformed", () => fromUtf8(bytes)) ?? new RawString(bytes);
}

function narrow(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}
