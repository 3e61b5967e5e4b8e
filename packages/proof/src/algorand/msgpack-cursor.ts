import { malformed } from "../errors.ts";
import { MsgpackBytes } from "./msgpack-bytes.ts";

/** Walks over encoded values without decoding them. */
export class MsgpackCursor extends MsgpackBytes {
  /**
   * Enters a map. @returns the number of members that follow, each a key and a value. @throws ProofError `malformed`
   */
  map(): number {
    const type = this.uint(1);
    if (type >= 0x80 && type < 0x90) return type & 0x0f;
    if (type === 0xde || type === 0xdf) return this.uint(2 << (type - 0xde));
    throw malformed(`msgpack: no map at offset ${this.offset - 1}`);
  }

  /** Enters an array. @returns the number of values that follow. @throws ProofError `malformed` */
  array(): number {
    const type = this.uint(1);
    if (type >= 0x90 && type < 0xa0) return type & 0x0f;
    if (type === 0xdc || type === 0xdd) return this.uint(2 << (type - 0xdc));
    throw malformed(`msgpack: no array at offset ${this.offset - 1}`);
  }

  /**
   * Reads a member's name: a string of at most 31 bytes, each of which is read as one character. @throws ProofError
   * `malformed`
   */
  name(): string {
    const type = this.uint(1);
    if (type < 0xa0 || type >= 0xc0) throw malformed(`msgpack: no name of a member at offset ${this.offset - 1}`);
    const start = this.pass(type & 0x1f);
    let name = "";
    for (let at = start; at < this.offset; at++) name += String.fromCharCode(this.bytes[at] as number);
    return name;
  }

  /** Skips a value of any type. @returns its bytes, a view. @throws ProofError `malformed` */
  value(): Uint8Array {
    const start = this.offset;
    this.skip();
    return this.bytes.subarray(start, this.offset);
  }

  /** Skips a value, like `value`, without returning it. */
  skip(): void {
    for (let left = 1; left > 0; left--) left += this.#scalar();
  }

  /** Skips a value's own bytes. @returns how many values it contains */
  #scalar(): number {
    const type = this.uint(1);
    if (type < 0x80) return 0;
    if (type < 0x90) return 2 * (type & 0x0f);
    if (type < 0xa0) return type & 0x0f;
    if (type < 0xc0) this.pass(type & 0x1f);
    else if (type >= 0xc4 && type <= 0xc6) this.pass(this.uint(1 << (type - 0xc4)));
    else if (type >= 0xcc && type <= 0xcf) this.pass(1 << (type - 0xcc));
    else if (type >= 0xd9 && type <= 0xdb) this.pass(this.uint(1 << (type - 0xd9)));
    else if (type === 0xdc || type === 0xdd) return this.uint(2 << (type - 0xdc));
    else if (type === 0xde || type === 0xdf) return 2 * this.uint(2 << (type - 0xde));
    else if (type !== 0xc0 && type !== 0xc2 && type !== 0xc3) this.skipUnused(type);
    return 0;
  }

  /**
   * Skips the rest of a value whose type Algorand does not use. @throws ProofError `malformed`, always in this class
   */
  protected skipUnused(type: number): void {
    throw malformed(`msgpack: type 0x${type.toString(16)} at offset ${this.offset - 1} is not used by Algorand`);
  }
}
