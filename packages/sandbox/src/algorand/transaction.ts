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
import { prefixRejection, Rejection } from "./rejection.ts";

/** The zero address, which msgpack omits. */
export const ZERO_ADDRESS = encodeAddress(new Uint8Array(32));

const DECODE_ERROR = "msgpack decode error: ";

type MemberKind = "address" | "bytes32" | "bytes64" | "bytes" | "text" | "uint" | "flag" | "map" | "list";
type Members = { readonly [kind in MemberKind]?: string };

/** All members of transactions in consensus v41, by transaction type and kind (go-algorand, `data/transactions`). */
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
const ENVELOPE = schemaOf({ bytes64: "sig", map: "msig lsig txn", address: "sgnr" });

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
  const values = prefixRejection(DECODE_ERROR, undefined, () => decodeMsgpackSequence(body));
  if (values.length === 0) throw new Rejection("empty txgroup");
  if (values.length > MAX_TX_GROUP_SIZE) throw new Rejection(`max group size is ${MAX_TX_GROUP_SIZE}`);
  const group = values.map(signedTransaction);
  if (!equalBytes(concatBytes(...values.map(encodeMsgpack)), body))
    throw new Rejection(`${DECODE_ERROR}encoding is not canonical`);
  return group;
}

/** Reads a signed transaction from its decoded map. @throws Rejection as `decodeSignedTransactions` does */
export function signedTransaction(map: MsgpackValue): SignedTransaction {
  return prefixRejection(DECODE_ERROR, undefined, () => {
    if (!(map instanceof Map)) throw new Rejection("a signed transaction is not a map");
    checkMembers(map, ENVELOPE);
    const txn = unsignedTransaction(getMap(map, "txn") ?? new Map());
    return { txn, map, authorizer: getAddress(map, "sgnr") ?? txn.sender };
  });
}

function unsignedTransaction(map: MsgpackMap): Transaction {
  checkMembers(map, TRANSACTION);
  const parameters = getMap(map, "apar");
  if (parameters !== undefined) checkMembers(parameters, ASSET_PARAMETERS);
  const type = getString(map, "type") ?? "";
  const bytes = encodeMsgpack(map);
  if (type !== "" && !isCanonicalTransaction(bytes)) throw new Rejection("a zero member is not left out");
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
export function strayType({ type, map }: Transaction): string | undefined {
  const others = MEMBERS_OF_TYPE.filter(([other]) => other !== "header" && other !== type);
  return others.find(([, schema]) => schema.keys().some((name) => map.has(name)))?.[0];
}

/** An address member in text form; undefined when absent. @throws ProofError `malformed` when it is not 32 bytes */
export function getAddress(map: MsgpackMap, key: string): string | undefined {
  const bytes = getBytes(map, key, 32);
  return bytes === undefined ? undefined : encodeAddress(bytes);
}

function checkMembers(map: MsgpackMap, schema: Schema): void {
  for (const [name, value] of map) {
    const kind = typeof name === "string" ? schema.get(name) : undefined;
    if (kind === undefined)
      throw new Rejection(`no matching struct field found when decoding stream map with key ${String(name)}`);
    if (!isOfKind(value, kind)) throw new Rejection(`${String(name)} is not canonical ${kind}`);
  }
}

/** Whether the value has the kind and is not zero, which canonical msgpack omits. */
function isOfKind(value: MsgpackValue, kind: MemberKind): boolean {
  const isBytes = (length: number) =>
    value instanceof Uint8Array && value.length === length && value.some((byte) => byte !== 0);
  switch (kind) {
    case "address":
    case "bytes32":
      return isBytes(32);
    case "bytes64":
      return isBytes(64);
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
