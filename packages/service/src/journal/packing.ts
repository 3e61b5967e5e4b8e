import { hash } from "node:crypto";
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import type { KeyEntry } from "@attestd/proof";
import { ServiceError } from "../lib/errors.ts";
import { SHIPPED } from "./dictionary.ts";

/*
 * What is read rarely and kept for ever is packed by the commit that writes it: text becomes one zstd frame, before it the
 * SHA-256 of its dictionary, by which the journal keeps that.
 */

/** What texts have in common. `hash`: the SHA-256 of the content. */
export type Dictionary = { hash: Uint8Array; content: Uint8Array };

const HASH_BYTES = 32;
/** Higher levels take twice the time and save nothing: what is left is signatures. */
const PARAMS = { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_checksumFlag]: 1 };
const MAX_CHUNK_BYTES = 64 * 1024;
/** Some times the largest text, which is the request of a batch of a thousand transactions. */
const MAX_TEXT_BYTES = 4 * 1024 * 1024;

/** @param key the newest of the attestor: every bundle has the key, and with it two kilobytes that nothing shortens */
export function dictionaryOf(key: KeyEntry | undefined): Dictionary {
  const content = Buffer.from(key ? SHIPPED + JSON.stringify(key) : SHIPPED);
  return { hash: hash("sha256", content, "buffer"), content };
}

/** @returns the hash of the dictionary, and a zstd frame with a checksum */
export function pack(text: string, { hash, content }: Dictionary): Uint8Array {
  const bytes = Buffer.from(text);
  // Node allocates 64 KiB for each output, which a thousand items of a batch keep until the garbage is collected.
  const options = { params: PARAMS, dictionary: content, chunkSize: Math.min(bytes.length + 512, MAX_CHUNK_BYTES) };
  return Buffer.concat([hash, zstdCompressSync(bytes, options)]);
}

/** The SHA-256 of the dictionary of what was packed. */
export function dictionaryHash(packed: Uint8Array): Uint8Array {
  return packed.subarray(0, HASH_BYTES);
}

/** @param what cannot be read. @throws journal_damaged where a reading of what was read from the database fails */
export function orDamaged<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw damaged(what, cause);
  }
}

/** @param what cannot be read @param cause why */
export function damaged(what: string, cause: unknown): ServiceError {
  return new ServiceError("journal_damaged", `${what} cannot be read: ${(cause as Error).message}`, { cause });
}

/** Of a row that cannot be read. @param hash of its dictionary, hex */
export function noDictionary(hash: string): Error {
  return new Error(`the journal lacks the dictionary ${hash}, without which what was packed by it cannot be read`);
}

/** @throws Error unless a dictionary is the one that rows name by this hash */
export function checkDictionary({ hash: name, content }: Dictionary): void {
  if (hash("sha256", content) !== name.toHex()) throw new Error(`the dictionary ${name.toHex()} has other bytes`);
}

/** @param content of the dictionary that was packed with. @throws Error when a byte of them is another */
export function unpack(packed: Uint8Array, content: Uint8Array): string {
  const options = { maxOutputLength: MAX_TEXT_BYTES, dictionary: Buffer.from(content) };
  return zstdDecompressSync(packed.subarray(HASH_BYTES), options).toString();
}
