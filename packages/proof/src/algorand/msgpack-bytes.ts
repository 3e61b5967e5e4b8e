import { malformed } from "../errors.ts";

/** Reads encoded bytes from the first to the last. */
export class MsgpackBytes {
  offset = 0;
  protected readonly bytes: Uint8Array;
  protected readonly view: DataView;

  constructor(bytes: Uint8Array) {
    // A subarray of a Buffer would be a Buffer, too.
    this.bytes = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  /** An unsigned integer of 1, 2 or 4 bytes. @throws ProofError `malformed` */
  protected uint(size: number): number {
    const start = this.pass(size);
    if (size === 1) return this.view.getUint8(start);
    return size === 2 ? this.view.getUint16(start) : this.view.getUint32(start);
  }

  /** Skips `size` bytes. @returns the offset where they begin. @throws ProofError `malformed` */
  protected pass(size: number): number {
    const start = this.offset;
    if (size > this.bytes.length - start) throw malformed(`msgpack: truncated at offset ${start}`);
    this.offset = start + size;
    return start;
  }
}
