import { ProofError } from "@attestd/proof";
import { decodeAddress, type MsgpackValue, RawString } from "@attestd/proof/algorand";
import { fromBase64, fromUtf8, utf8 } from "@attestd/proof/encoding";

// Members of an indexer's JSON as msgpack values. An absent member is the empty value of its type, which structMap leaves
// out. All throw ProofError `malformed` on a member of another type.

/** A JSON object as an indexer writes it, with lossless integers. */
export type Json = Readonly<Record<string, unknown>>;

export function object(value: unknown): Json {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Json;
  throw new ProofError("malformed", "not an object");
}

export function list<T>(value: unknown, read: (item: unknown) => T): T[] {
  if (value === undefined) return [];
  if (Array.isArray(value)) return value.map(read);
  throw new ProofError("malformed", "not a list");
}

export function integer(value: unknown): number | bigint {
  if (value === undefined) return 0;
  if (typeof value === "bigint" || typeof value === "number") return value;
  throw new ProofError("malformed", "not an integer");
}

export function flag(value: unknown): boolean {
  if (value === undefined || typeof value === "boolean") return value ?? false;
  throw new ProofError("malformed", "not a boolean");
}

export function text(value: unknown): string {
  if (value === undefined || typeof value === "string") return value ?? "";
  throw new ProofError("malformed", "not a text");
}

/** Base64. */
export function bytes(value: unknown): Uint8Array {
  return fromBase64(text(value));
}

/** Text for which the ledger prescribes no encoding. */
export function anyText(base64: unknown, plain: unknown): MsgpackValue {
  const raw = base64 === undefined ? utf8(text(plain)) : bytes(base64);
  try {
    return fromUtf8(raw);
  } catch {
    return new RawString(raw);
  }
}

/** Bytes of fixed length. @returns undefined for all zeros, which Go leaves out */
export function digest(value: unknown): Uint8Array | undefined {
  const fixed = bytes(value);
  return fixed.some((byte) => byte !== 0) ? fixed : undefined;
}

export function address(value: unknown): Uint8Array | undefined {
  const publicKey = value === undefined ? new Uint8Array() : decodeAddress(text(value));
  return publicKey.some((byte) => byte !== 0) ? publicKey : undefined;
}
