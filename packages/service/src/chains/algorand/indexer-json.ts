import { decodeAddress, type MsgpackMap, type MsgpackValue, RawString, structMap } from "@attestd/proof/algorand";
import { fromBase64, fromUtf8, utf8 } from "@attestd/proof/encoding";
import { attempt, isProofError, ProofError } from "@attestd/proof/errors";

// Readers of an indexer's JSON, which return the values of a transaction's msgpack.

/** Rebuilds something from an indexer's JSON; undefined if the JSON does not suffice. */
export function rebuilt<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch (error) {
    if (isProofError(error, "malformed") || error instanceof TypeError) return undefined;
    throw error;
  }
}

/** A JSON object as an indexer writes it, with lossless integers. */
export type Json = Readonly<Record<string, unknown>>;
/** Reads a JSON value. @throws ProofError `malformed` for a value of another type */
export type Read<T = MsgpackValue | undefined> = (value: unknown) => T;
/** A field's JSON member and its reader; or a reader of the JSON object that contains the members. */
export type Field = readonly [member: string, read: Read] | ((json: Json) => MsgpackValue | undefined);
type Fields = Readonly<Record<string, Field>>;

/** Makes a reader of a JSON object; an absent one has no members. */
export function struct(fields: Fields): Read<MsgpackMap> {
  return (value) => {
    const json = object(value ?? {});
    const values = Object.entries(fields).map(([name, field]) => {
      return [name, typeof field === "function" ? field(json) : field[1](json[field[0]])];
    });
    return structMap(Object.fromEntries(values));
  };
}

/** Makes a reader of a nested JSON object. @param name of its member */
export function member(name: string, fields: Fields): (json: Json) => MsgpackMap {
  const read = struct(fields);
  return (json) => read(json[name]);
}

export function object(value: unknown): Json {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Json;
  throw new ProofError("malformed", "not an object");
}

// An absent member is read as its type's empty value, which `structMap` leaves out.

export function list<T>(read: Read<T>): Read<T[]> {
  return (value = []) => {
    if (Array.isArray(value)) return value.map(read);
    throw new ProofError("malformed", "not a list");
  };
}

export function integer(value: unknown = 0): number | bigint {
  if (typeof value === "bigint" || typeof value === "number") return value;
  throw new ProofError("malformed", "not an integer");
}

export function flag(value: unknown = false): boolean {
  if (typeof value === "boolean") return value;
  throw new ProofError("malformed", "not a boolean");
}

export function text(value: unknown = ""): string {
  if (typeof value === "string") return value;
  throw new ProofError("malformed", "not a text");
}

/** Base64. */
export function bytes(value: unknown): Uint8Array {
  return fromBase64(text(value));
}

/** Reads base64 of a fixed number of bytes. @returns undefined for all zeros, which Go leaves out */
export function digest(value: unknown): Uint8Array | undefined {
  return unlessZero(bytes(value));
}

export function address(value: unknown): Uint8Array | undefined {
  return value === undefined ? undefined : unlessZero(decodeAddress(text(value)));
}

function unlessZero(fixed: Uint8Array): Uint8Array | undefined {
  return fixed.some((byte) => byte !== 0) ? fixed : undefined;
}

/**
 * Reads text whose encoding the ledger does not prescribe. The plain member is missing or mangled if it is not UTF-8.
 */
export function anyText(name: string): Field {
  return (json) => {
    const base64 = json[`${name}-b64`];
    const raw = base64 === undefined ? utf8(text(json[name])) : bytes(base64);
    return attempt("malformed", () => fromUtf8(raw)) ?? new RawString(raw);
  };
}
