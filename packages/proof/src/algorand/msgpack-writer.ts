import { compareBytes, utf8 } from "../encoding.ts";
import { type MsgpackKey, type MsgpackMap, type MsgpackValue, RawString } from "./msgpack-value.ts";

const MAX_UINT64 = 2n ** 64n - 1n;

/**
 * The canonical encoding of go-algorand: map keys sorted (integers by value, strings by their bytes), every length and
 * integer in its shortest form.
 * @throws TypeError for a fraction, an integer outside uint64, a lone surrogate
 */
export function encodeMsgpack(value: MsgpackValue): Uint8Array<ArrayBuffer> {
  return writer.bytes(value);
}

/** The largest buffer that is kept for the next encoding. Few headers and transactions are larger. */
const MAX_KEPT = 65_536;

class Writer {
  #buffer = new Uint8Array(512);
  #view = new DataView(this.#buffer.buffer);
  #length = 0;

  bytes(value: MsgpackValue): Uint8Array<ArrayBuffer> {
    this.#length = 0;
    this.value(value);
    const bytes = this.#buffer.slice(0, this.#length);
    if (this.#buffer.length > MAX_KEPT) this.#keep(new Uint8Array(MAX_KEPT));
    return bytes;
  }

  value(value: MsgpackValue): void {
    if (typeof value === "string") this.#text(value);
    else if (typeof value === "number") this.#number(value);
    else if (typeof value === "bigint") this.#bigint(value);
    else if (value instanceof Uint8Array) {
      this.#length8(0xc4, value.length);
      this.#put(value);
    } else if (value instanceof Map) this.#map(value);
    else if (Array.isArray(value)) {
      if (value.length < 16) this.#uint(1, 0x90 | value.length);
      else this.#length16(0xdc, value.length);
      for (const item of value) this.value(item);
    } else if (value instanceof RawString) this.#string(value.bytes);
    else if (value === null) this.#uint(1, 0xc0);
    else if (typeof value === "boolean") this.#uint(1, value ? 0xc3 : 0xc2);
    else throw new TypeError(`msgpack: cannot encode ${typeof value}`);
  }

  #map(map: MsgpackMap): void {
    if (map.size < 16) this.#uint(1, 0x80 | map.size);
    else this.#length16(0xde, map.size);
    const entries = [...map].sort(([a], [b]) => compareKeys(a, b));
    for (const [key, value] of entries) {
      this.value(key);
      this.value(value);
    }
  }

  #text(text: string): void {
    // Field names, most of what is encoded, are short ASCII, for which a TextEncoder call costs more than this loop.
    if (text.length < 32 && isAscii(text)) {
      this.#uint(1, 0xa0 | text.length);
      const start = this.#reserve(text.length);
      for (let index = 0; index < text.length; index++) this.#buffer[start + index] = text.charCodeAt(index);
    } else {
      if (!text.isWellFormed()) throw new TypeError("msgpack: a string has a lone surrogate");
      this.#string(utf8(text));
    }
  }

  #string(bytes: Uint8Array): void {
    if (bytes.length < 32) this.#uint(1, 0xa0 | bytes.length);
    else this.#length8(0xd9, bytes.length);
    this.#put(bytes);
  }

  #number(value: number): void {
    if (!Number.isSafeInteger(value)) throw new TypeError(`msgpack: ${value} is not a safe integer`);
    if (value < 0 || value >= 0x1_0000_0000) this.#bigint(BigInt(value));
    else if (value >= 0x80) this.#length8(0xcc, value);
    else this.#uint(1, value);
  }

  #bigint(value: bigint): void {
    if (value > MAX_UINT64 || value < 0n)
      throw new TypeError(`msgpack: ${value} is not an unsigned integer of 64 bits`);
    if (value <= 0xffff_ffffn) {
      this.#number(Number(value));
    } else {
      this.#uint(1, 0xcf);
      const start = this.#reserve(8);
      this.#view.setBigUint64(start, value);
    }
  }

  /** Writes a type byte and the length in the shortest of 1, 2 or 4 bytes. The three types are consecutive. */
  #length8(type: number, length: number): void {
    if (length > 0xff) {
      this.#length16(type + 1, length);
    } else {
      this.#uint(1, type);
      this.#uint(1, length);
    }
  }

  /** Writes a length, like `#length8`, for types without a one-byte form. */
  #length16(type: number, length: number): void {
    const wide = length > 0xffff;
    this.#uint(1, wide ? type + 1 : type);
    this.#uint(wide ? 4 : 2, length);
  }

  #uint(size: number, value: number): void {
    const start = this.#reserve(size);
    if (size === 1) this.#view.setUint8(start, value);
    else if (size === 2) this.#view.setUint16(start, value);
    else this.#view.setUint32(start, value);
  }

  #put(bytes: Uint8Array): void {
    const start = this.#reserve(bytes.length);
    this.#buffer.set(bytes, start);
  }

  #reserve(size: number): number {
    const start = this.#length;
    this.#length += size;
    if (this.#length > this.#buffer.length) {
      const grown = new Uint8Array(Math.max(this.#length, this.#buffer.length * 2));
      grown.set(this.#buffer.subarray(0, start));
      this.#keep(grown);
    }
    return start;
  }

  #keep(buffer: Uint8Array<ArrayBuffer>): void {
    this.#buffer = buffer;
    this.#view = new DataView(buffer.buffer);
  }
}

/**
 * One writer serves all calls: nothing here is asynchronous, and a value cannot run code that encodes another value.
 */
const writer = new Writer();

function compareKeys(a: MsgpackKey, b: MsgpackKey): number {
  if (isInteger(a)) return isInteger(b) ? (a < b ? -1 : 1) : -1;
  if (isInteger(b)) return 1;
  if (a instanceof RawString || b instanceof RawString) return compareBytes(stringBytes(a), stringBytes(b));
  // UTF-16 order differs from UTF-8 order only where a surrogate, which stands for a high code point, meets another
  // unit above U+D7FF.
  return isAscii(a) && isAscii(b) ? (a < b ? -1 : 1) : compareBytes(utf8(a), utf8(b));
}

function isInteger(key: MsgpackKey): key is number | bigint {
  return typeof key === "number" || typeof key === "bigint";
}

function stringBytes(key: string | RawString): Uint8Array {
  return typeof key === "string" ? utf8(key) : key.bytes;
}

function isAscii(text: string): boolean {
  for (let index = 0; index < text.length; index++) if (text.charCodeAt(index) > 0x7f) return false;
  return true;
}
