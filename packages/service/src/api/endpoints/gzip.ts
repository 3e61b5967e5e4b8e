import { constants, crc32, deflateRawSync } from "node:zlib";

/** Whether a value of Accept-Encoding (RFC 9110, 12.5.3) accepts gzip. */
export function takesGzip(acceptEncoding: string | null | undefined): boolean {
  let any = false;
  for (const item of acceptEncoding?.split(",") ?? []) {
    const [coding = "", ...parameters] = item.split(";").map((part) => part.trim().toLowerCase());
    if (coding !== "gzip" && coding !== "x-gzip" && coding !== "*") continue;
    const isTaken = parameters.every((parameter) => !parameter.startsWith("q=") || Number(parameter.slice(2)) > 0);
    if (coding !== "*") return isTaken;
    any = isTaken;
  }
  return any;
}

/** A member header without a name or a time (RFC 1952, 2.3). */
const HEADER = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255);
/** Ends a part at a byte boundary, so that another can follow in the same stream (RFC 1951, 3.2.4). */
const OPEN = { finishFlush: constants.Z_SYNC_FLUSH };

/**
 * Compresses texts that share a part, which is compressed only once.
 * @returns gzip (RFC 1952) of a text in UTF-8; undefined for a text without the part
 */
export function gzipAround(part: string): (text: string) => Buffer<ArrayBuffer> | undefined {
  let prepared: Buffer | undefined;
  return (text) => {
    const at = text.indexOf(part);
    if (at < 0) return undefined;
    prepared ??= deflateRawSync(part, OPEN);
    const before = deflateRawSync(text.slice(0, at), OPEN);
    const after = deflateRawSync(text.slice(at + part.length));
    const bytes = Buffer.from(text);
    const trailer = Buffer.alloc(8);
    trailer.writeUInt32LE(crc32(bytes), 0);
    trailer.writeUInt32LE(bytes.length, 4);
    return Buffer.concat([HEADER, before, prepared, after, trailer]);
  };
}
