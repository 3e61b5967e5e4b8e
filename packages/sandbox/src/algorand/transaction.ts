import { isProofError, ProofError } from "@attestd/proof";
import {
  decodeMsgpackSequence,
  encodeAddress,
  encodeMsgpack,
  getBytes,
  getInteger,
  getMap,
  getString,
  isCanonicalTransaction,
  type MsgpackMap,
  type MsgpackValue,
  RawString,
  transactionDigest,
} from "@attestd/proof/algorand";
import { concatBytes, equalBytes, toBase32 } from "@attestd/proof/encoding";
import { MAX_TX_GROUP_SIZE } from "./consensus.ts";
import { Rejection } from "./rejection.ts";

/** The zero address, which msgpack omits. */
export const ZERO_ADDRESS = encodeAddress(new Uint8Array(32));

type FieldKind = "address" | "bytes32" | "bytes64" | "bytes" | "text" | "uint" | "flag" | "map" | "list";

/** All members of transactions in consensus v41, by transaction type (go-algorand, `data/transactions`). */
const FIELDS: Record<string, Record<string, FieldKind>> = {
  header: {
    type: "text",
    snd: "address",
    fee: "uint",
    fv: "uint",
    lv: "uint",
    note: "bytes",
    gen: "text",
    gh: "bytes32",
    grp: "bytes32",
    lx: "bytes32",
    rekey: "address",
  },
  pay: { amt: "uint", rcv: "address", close: "address" },
  axfer: { xaid: "uint", aamt: "uint", asnd: "address", arcv: "address", aclose: "address" },
  acfg: { caid: "uint", apar: "map" },
  afrz: { fadd: "address", faid: "uint", afrz: "flag" },
  keyreg: {
    votekey: "bytes32",
    selkey: "bytes32",
    sprfkey: "bytes64",
    votefst: "uint",
    votelst: "uint",
    votekd: "uint",
    nonpart: "flag",
  },
  appl: {
    apid: "uint",
    apan: "uint",
    apat: "list",
    apap: "bytes",
    apsu: "bytes",
    apaa: "list",
    apfa: "list",
    apas: "list",
    apbx: "list",
    al: "list",
    apgs: "map",
    apls: "map",
    apep: "uint",
    aprv: "uint",
  },
  stpf: { sptype: "uint", sp: "map", spmsg: "map" },
  hb: { hb: "map" },
};

const TRANSACTION: Record<string, FieldKind> = Object.assign({}, ...Object.values(FIELDS));

const ASSET_PARAMETERS: Record<string, FieldKind> = {
  t: "uint",
  dc: "uint",
  df: "flag",
  un: "text",
  an: "text",
  au: "text",
  am: "bytes32",
  m: "address",
  r: "address",
  f: "address",
  c: "address",
};

const ENVELOPE: Record<string, FieldKind> = {
  sig: "bytes64",
  msig: "map",
  lsig: "map",
  sgnr: "address",
  txn: "map",
};

/** An unsigned transaction: its bytes, and the members that every type has. Addresses are in text form. */
export interface Transaction {
  id: string;
  /** Canonical msgpack. */
  bytes: Uint8Array;
  map: MsgpackMap;
  type: string;
  sender: string;
  /** microAlgos. */
  fee: bigint;
  firstValid: bigint;
  lastValid: bigint;
  group: Uint8Array | undefined;
  lease: Uint8Array | undefined;
  rekeyTo: string | undefined;
}

export interface SignedTransaction {
  txn: Transaction;
  /** The envelope: `txn`, one of `sig`, `msig`, `lsig`, and `sgnr` if another key than the sender's signed. */
  map: MsgpackMap;
  /** The claimed signer: `sgnr`, or else the sender. */
  authorizer: string;
}

/**
 * Decodes a group: concatenated signed transactions, the body of `POST /v2/transactions`.
 * @throws Rejection when the bytes are not 1 to 16 of them in canonical msgpack without unknown or zero members
 */
export function decodeSignedTransactions(body: Uint8Array): SignedTransaction[] {
  let values: MsgpackValue[];
  try {
    values = decodeMsgpackSequence(body);
  } catch (error) {
    throw decodeRejection(error);
  }
  if (values.length === 0) throw new Rejection("empty txgroup");
  if (values.length > MAX_TX_GROUP_SIZE) throw new Rejection(`max group size is ${MAX_TX_GROUP_SIZE}`);
  const group = values.map(signedTransaction);
  if (!equalBytes(concatBytes(...values.map(encodeMsgpack)), body))
    throw new Rejection("msgpack decode error: encoding is not canonical");
  return group;
}

/** Reads a signed transaction from its decoded map. @throws Rejection as `decodeSignedTransactions` does */
export function signedTransaction(value: MsgpackValue): SignedTransaction {
  try {
    if (!(value instanceof Map)) throw new ProofError("malformed", "a signed transaction is not a map");
    checkMembers(value, ENVELOPE);
    const txn = unsignedTransaction(getMap(value, "txn") ?? new Map());
    return { txn, map: value, authorizer: getAddress(value, "sgnr") ?? txn.sender };
  } catch (error) {
    throw decodeRejection(error);
  }
}

function unsignedTransaction(map: MsgpackMap): Transaction {
  checkMembers(map, TRANSACTION);
  const parameters = getMap(map, "apar");
  if (parameters !== undefined) checkMembers(parameters, ASSET_PARAMETERS);
  const type = getString(map, "type") ?? "";
  const bytes = encodeMsgpack(map);
  if (type !== "" && !isCanonicalTransaction(bytes)) throw new ProofError("malformed", "a zero member is not left out");
  return {
    id: toBase32(transactionDigest(bytes)),
    bytes,
    map,
    type,
    sender: getAddress(map, "snd") ?? ZERO_ADDRESS,
    fee: getInteger(map, "fee"),
    firstValid: getInteger(map, "fv"),
    lastValid: getInteger(map, "lv"),
    group: getBytes(map, "grp"),
    lease: getBytes(map, "lx"),
    rekeyTo: getAddress(map, "rekey"),
  };
}

/** Another transaction type that one of the members belongs to; undefined when there is none. */
export function strayType(txn: Transaction): string | undefined {
  return Object.keys(FIELDS).find(
    (type) =>
      type !== "header" && type !== txn.type && Object.keys(FIELDS[type] ?? {}).some((name) => txn.map.has(name)),
  );
}

/** An address member in text form; undefined when absent. @throws ProofError `malformed` when it is not 32 bytes */
export function getAddress(map: MsgpackMap, key: string): string | undefined {
  const bytes = getBytes(map, key, 32);
  return bytes === undefined ? undefined : encodeAddress(bytes);
}

function checkMembers(map: MsgpackMap, schema: Record<string, FieldKind>): void {
  for (const [name, value] of map) {
    const kind = typeof name === "string" && Object.hasOwn(schema, name) ? schema[name] : undefined;
    if (kind === undefined)
      throw new ProofError(
        "malformed",
        `no matching struct field found when decoding stream map with key ${String(name)}`,
      );
    if (!isOfKind(value, kind)) throw new ProofError("malformed", `${String(name)} is not canonical ${kind}`);
  }
}

/** Whether the value has the kind and is not zero, which canonical msgpack omits. */
function isOfKind(value: MsgpackValue, kind: FieldKind): boolean {
  switch (kind) {
    case "address":
    case "bytes32":
      return value instanceof Uint8Array && value.length === 32 && value.some((byte) => byte !== 0);
    case "bytes64":
      return value instanceof Uint8Array && value.length === 64 && value.some((byte) => byte !== 0);
    case "bytes":
      return value instanceof Uint8Array && value.length > 0;
    case "uint":
      return (typeof value === "number" || typeof value === "bigint") && value > 0;
    case "flag":
      return value === true;
    case "text":
      return (typeof value === "string" && value !== "") || value instanceof RawString;
    case "map":
      return value instanceof Map && value.size > 0;
    case "list":
      return Array.isArray(value) && value.length > 0;
  }
}

function decodeRejection(error: unknown): Rejection {
  if (isProofError(error, "malformed")) return new Rejection(`msgpack decode error: ${error.message}`);
  throw error;
}
