import { isProofError } from "@attestd/proof";
import {
  decodeMsgpack,
  encodeAddress,
  encodeMsgpack,
  getBytes,
  getInteger,
  getMap,
  getString,
  isEmpty,
  type MsgpackMap,
  type MsgpackValue,
  RawString,
  transactionDigest,
} from "@attestd/proof/algorand";
import { toBase32 } from "@attestd/proof/encoding";
import { MAX_TX_GROUP_SIZE } from "./consensus.ts";
import { msgpackEnd } from "./msgpack-end.ts";
import { prefixRejection, Rejection } from "./rejection.ts";

/** The zero address, which msgpack omits. */
export const ZERO_ADDRESS = encodeAddress(new Uint8Array(32));

const isBytes = (length: number) => (value: MsgpackValue) => value instanceof Uint8Array && value.length === length;

const IS_OF_KIND = {
  address: isBytes(32),
  bytes32: isBytes(32),
  bytes64: isBytes(64),
  bytes: (value: MsgpackValue) => value instanceof Uint8Array,
  text: (value: MsgpackValue) => typeof value === "string" || value instanceof RawString,
  uint: (value: MsgpackValue) => typeof value === "number" || typeof value === "bigint",
  flag: (value: MsgpackValue) => typeof value === "boolean",
  map: (value: MsgpackValue) => value instanceof Map,
  list: (value: MsgpackValue) => Array.isArray(value),
};
type MemberKind = keyof typeof IS_OF_KIND;
type Members = { readonly [kind in MemberKind]?: string };

/** All members of transactions in consensus v42, by transaction type and kind (go-algorand, `data/transactions`). */
const MEMBERS: Record<string, Members> = {
  header: { text: "type gen", address: "snd rekey", uint: "fee fv lv", bytes: "note", bytes32: "gh grp lx" },
  pay: { uint: "amt", address: "rcv close" },
  axfer: { uint: "xaid aamt", address: "asnd arcv aclose" },
  acfg: { uint: "caid", map: "apar" },
  afrz: { address: "fadd", uint: "faid", flag: "afrz" },
  keyreg: { bytes32: "votekey selkey", bytes64: "sprfkey", uint: "votefst votelst votekd", flag: "nonpart" },
  appl: {
    uint: "apid apan apep aprv",
    list: "apat apaa apfa apas apbx al",
    bytes: "apap apsu",
    map: "apgs apls",
  },
  stpf: { uint: "sptype", map: "sp spmsg" },
  hb: { map: "hb" },
};

/** The kind of each member, by its name. */
type Schema = ReadonlyMap<string, MemberKind>;

function schemaOf(...tables: Members[]): Schema {
  const kinds = tables.flatMap((table) => Object.entries(table) as [MemberKind, string][]);
  return new Map(kinds.flatMap(([kind, names]) => names.split(" ").map((name) => [name, kind] as const)));
}

const TRANSACTION = schemaOf(...Object.values(MEMBERS));
const MEMBERS_OF_TYPE = Object.entries(MEMBERS).map(([type, members]) => [type, schemaOf(members)] as const);
const ASSET_PARAMETERS = schemaOf({ uint: "t dc", flag: "df", text: "un an au", bytes32: "am", address: "m r f c" });
const ENVELOPE = schemaOf({ bytes64: "sig", map: "msig lsig pqsig txn", address: "sgnr" });

/** An unsigned transaction: its bytes, and the members that every type has. Addresses are in text form. */
export type Transaction = ReturnType<typeof unsignedTransaction>;

export interface SignedTransaction {
  txn: Transaction;
  /** The envelope: `txn`, one of `SIGNATURE_KINDS`, and `sgnr` if another key than the sender's signed. */
  map: MsgpackMap;
  /** The claimed signer: `sgnr`, or else the sender. */
  authorizer: string;
}

/** Members of an envelope that contain a signature. */
export const SIGNATURE_KINDS = ["sig", "msig", "lsig", "pqsig"] as const;

/**
 * Decodes a group: concatenated signed transactions, the body of `POST /v2/transactions`. Like Go's decoder it accepts
 * any order of members, zero members, and integers of any length; the canonical encoding is what is signed and stored.
 * It ignores a transaction that is cut off at the end.
 * @throws Rejection when the bytes are not 1 to 16 of them, or have unknown members
 */
export function decodeSignedTransactions(body: Uint8Array): SignedTransaction[] {
  const group: SignedTransaction[] = [];
  for (let start = 0, end: number | undefined; start < body.length; start = end) {
    const type = body[start] as number;
    const isMap = (type >= 0x80 && type < 0x90) || type === 0xde || type === 0xdf;
    if (!isMap) throw new Rejection(`${decodeError(start + 1)}only encoded map or array can be decoded into a struct`);
    end = msgpackEnd(body, start);
    if (end === undefined) break;
    const bytes = body.subarray(start, end);
    const value = prefixRejection(decodeError(end), undefined, () => decodeMsgpack(bytes));
    group.push(signedTransaction(value, (key) => start + lastKeyEnd(bytes, key)));
    if (group.length > MAX_TX_GROUP_SIZE) throw new Rejection(`max group size is ${MAX_TX_GROUP_SIZE}`);
  }
  if (group.length === 0) throw new Rejection("empty txgroup");
  return group;
}

function decodeError(position: number): string {
  return `msgpack decode error [pos ${position}]: `;
}

/** Returns where a key of a decoded map ends. Go names this position in its errors. */
function lastKeyEnd(bytes: Uint8Array, key: string): number {
  const encoded = encodeMsgpack(key);
  return Buffer.from(bytes).lastIndexOf(encoded) + encoded.length;
}

/**
 * Reads a signed transaction from its decoded map.
 * @param positionOf of a member's name in the encoding, for errors
 * @throws Rejection when it has members that no transaction has
 */
export function signedTransaction(
  value: MsgpackValue,
  positionOf: (key: string) => number = () => 0,
): SignedTransaction {
  try {
    if (!(value instanceof Map)) throw new MemberError("txn", "only encoded map or array can be decoded into a struct");
    const map = canonicalMembers(value, ENVELOPE);
    const txn = unsignedTransaction(getMap(map, "txn") ?? new Map());
    return { txn, map: map.set("txn", txn.map), authorizer: getAddress(map, "sgnr") ?? txn.sender };
  } catch (error) {
    if (error instanceof MemberError) throw new Rejection(decodeError(positionOf(error.key)) + error.message);
    if (isProofError(error, "malformed")) throw new Rejection(decodeError(0) + error.message);
    throw error;
  }
}

function unsignedTransaction(given: MsgpackMap) {
  const map = canonicalMembers(given, TRANSACTION);
  const parameters = getMap(map, "apar");
  if (parameters !== undefined) map.set("apar", canonicalMembers(parameters, ASSET_PARAMETERS));
  const bytes = encodeMsgpack(map);
  return {
    id: toBase32(transactionDigest(bytes)),
    /** Canonical msgpack. */
    bytes,
    map,
    type: getString(map, "type") ?? "",
    sender: getAddress(map, "snd") ?? ZERO_ADDRESS,
    /** microAlgos. */
    fee: getInteger(map, "fee"),
    firstValid: getInteger(map, "fv"),
    lastValid: getInteger(map, "lv"),
    noteLength: getBytes(map, "note")?.length ?? 0,
    group: getBytes(map, "grp"),
    lease: getBytes(map, "lx"),
    rekeyTo: getAddress(map, "rekey"),
  };
}

/** Returns another transaction type to which one of the members belongs; undefined when there is none. */
export function strayType({ type, map }: Transaction): string | undefined {
  const others = MEMBERS_OF_TYPE.filter(([other]) => other !== "header" && other !== type);
  return others.find(([, schema]) => schema.keys().some((name) => map.has(name)))?.[0];
}

/** An address member in text form; undefined when absent. @throws ProofError `malformed` when it is not 32 bytes */
export function getAddress(map: MsgpackMap, key: string): string | undefined {
  const bytes = getBytes(map, key, 32);
  return bytes === undefined ? undefined : encodeAddress(bytes);
}

/** The error for a member that Go's decoder does not accept. */
class MemberError extends Error {
  readonly key: string;

  constructor(key: string, message: string) {
    super(message);
    this.key = key;
  }
}

/** Returns the nonzero members of a map, in the order of the canonical encoding. @throws MemberError */
function canonicalMembers(map: MsgpackMap, schema: Schema): MsgpackMap {
  const members = [...map].map(([key, value]) => {
    const name = String(key);
    const kind = schema.get(name);
    if (kind === undefined)
      throw new MemberError(name, `no matching struct field found when decoding stream map with key ${name}`);
    if (!IS_OF_KIND[kind](value)) throw new MemberError(name, `${name} is not ${kind}`);
    return [name, value, kind] as const;
  });
  const kept = members.filter(([, value, kind]) => !isZero(value, kind)).sort(([a], [b]) => (a < b ? -1 : 1));
  return new Map(kept.map(([name, value]) => [name, value]));
}

/** Whether a value is zero: byte strings of a fixed length when all their bytes are, others when they are empty. */
function isZero(value: MsgpackValue, kind: MemberKind): boolean {
  const isFixed = value instanceof Uint8Array && kind !== "bytes";
  return isFixed ? value.every((byte) => byte === 0) : isEmpty(value);
}
