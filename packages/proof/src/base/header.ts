import { keccak_256 } from "@noble/hashes/sha3.js";
import { fromHex, toHex } from "../encoding.ts";
import { malformed } from "../errors.ts";
import type { Keccak256 } from "../signature.ts";
import { decodeQuantity, decodeRlpList, encodeQuantity, encodeRlp, isQuantity } from "./rlp.ts";

/** A field of a fixed length in bytes, of any length, or a quantity. */
type FieldKind = number | "bytes" | "quantity";

/**
 * Header fields by their JSON-RPC names, in RLP order. Forks have only ever appended fields, so a header ends at the
 * first one that it lacks. Every header has the first 15.
 */
const FIELDS = [
  ["parentHash", 32],
  ["sha3Uncles", 32],
  ["miner", 20],
  ["stateRoot", 32],
  ["transactionsRoot", 32],
  ["receiptsRoot", 32],
  ["logsBloom", 256],
  ["difficulty", "quantity"],
  ["number", "quantity"],
  ["gasLimit", "quantity"],
  ["gasUsed", "quantity"],
  ["timestamp", "quantity"],
  ["extraData", "bytes"],
  ["mixHash", 32],
  ["nonce", 8],
  ["baseFeePerGas", "quantity"],
  ["withdrawalsRoot", 32],
  ["blobGasUsed", "quantity"],
  ["excessBlobGas", "quantity"],
  ["parentBeaconBlockRoot", 32],
  ["requestsHash", 32],
  // Amsterdam: EIP-7928 and EIP-7843.
  ["blockAccessListHash", 32],
  ["slotNumber", "quantity"],
] as const satisfies readonly (readonly [string, FieldKind])[];

const MANDATORY_FIELDS = 15;

/**
 * Members of a JSON-RPC block that no header has. The first line is everything that go-ethereum 1.17.10 adds
 * (`RPCMarshalBlock` of internal/ethapi). The others come from go-ethereum before 1.14, Base since Denim, Arbitrum,
 * BNB, OpenEthereum and Nethermind.
 */
const OTHER_MEMBERS = [
  ...["hash", "size", "transactions", "uncles", "withdrawals"],
  "totalDifficulty",
  "timestampMs",
  ...["l1BlockNumber", "sendCount", "sendRoot"],
  "milliTimestamp",
  ...["author", "sealFields"],
];
const KNOWN_MEMBERS = new Set<string>([...FIELDS.map(([name]) => name), ...OTHER_MEMBERS]);
/** Limits names that come from a node, because they go into errors and logs. */
const MEMBER_NAME = /^[A-Za-z]\w{0,39}$/;
const MAX_UNKNOWN_NAMED = 5;

export type BaseHeaderField = (typeof FIELDS)[number][0];

/** A decoded header: each field as in RLP, quantities in their shortest form. */
export type BaseHeader = {
  fields: ReadonlyMap<BaseHeaderField, Uint8Array>;
  number: number;
  transactionsRoot: Uint8Array;
  receiptsRoot: Uint8Array;
};

/** A header's hash: `0x` and 64 lower-case hex digits. */
export function baseHeaderHash(bytes: Uint8Array, keccak256: Keccak256 = keccak_256): string {
  return `0x${toHex(keccak256(bytes))}`;
}

/**
 * Returns members of a JSON-RPC block that may be header fields of a fork newer than this code: at most 5 names that
 * are neither known fields nor known to be outside headers.
 */
export function unknownHeaderFields(block: Record<string, unknown>): string[] {
  const isUnknown = (name: string) => !KNOWN_MEMBERS.has(name) && MEMBER_NAME.test(name) && block[name] !== null;
  return Object.keys(block).filter(isUnknown).slice(0, MAX_UNKNOWN_NAMED);
}

/**
 * Encodes the header of a JSON-RPC block (`eth_getBlockByNumber`) as RLP. The hash shows whether every field is known:
 * this needs no schedule of forks, and a member outside the header does no harm.
 * @throws ProofError `malformed`, also when the bytes do not have the block's own `hash`; the message then names
 *   `unknownHeaderFields`
 */
export function encodeBaseHeader(block: Record<string, unknown>, keccak256: Keccak256 = keccak_256): Uint8Array {
  const isPresent = (name: string) => block[name] !== undefined && block[name] !== null;
  const absent = FIELDS.findIndex(([name]) => !isPresent(name));
  const length = absent === -1 ? FIELDS.length : absent;
  const gap = FIELDS.slice(length).find(([name]) => isPresent(name));
  if (length < MANDATORY_FIELDS || gap) throw malformed(`header has no ${FIELDS[length]?.[0]}`);
  const bytes = encodeRlp(FIELDS.slice(0, length).map(([name, kind]) => encodeField(name, kind, block[name])));
  if (baseHeaderHash(bytes, keccak256) === block.hash) return bytes;
  const unknown = unknownHeaderFields(block);
  throw malformed(
    `header's bytes do not have its hash${unknown.length > 0 ? `; unknown fields: ${unknown.join(", ")}` : ""}`,
  );
}

function encodeField(name: string, kind: FieldKind, value: unknown): Uint8Array {
  if (typeof value !== "string" || !/^0x[0-9a-fA-F]*$/.test(value)) throw malformed(`header's ${name} is not hex`);
  const digits = value.slice(2).toLowerCase();
  if (kind === "quantity") return encodeQuantity(BigInt(`0x${digits || "0"}`));
  const bytes = fromHex(digits);
  if (!isOfKind(bytes, kind)) throw malformed(`header's ${name} has ${bytes.length} bytes`);
  return bytes;
}

function isOfKind(bytes: Uint8Array, kind: FieldKind): boolean {
  if (kind === "quantity") return isQuantity(bytes);
  return kind === "bytes" || bytes.length === kind;
}

/**
 * Decodes a header's RLP. It ignores fields after the known ones, because later forks may append fields.
 * @throws ProofError `malformed`, also when the number exceeds 2^53 - 1
 */
export function decodeBaseHeader(bytes: Uint8Array): BaseHeader {
  const items = decodeRlpList(bytes);
  if (items.length < MANDATORY_FIELDS) throw malformed(`header has ${items.length} fields`);
  const fields = new Map<BaseHeaderField, Uint8Array>();
  for (const [index, [name, kind]] of FIELDS.slice(0, items.length).entries()) {
    const item = items[index];
    if (!(item instanceof Uint8Array) || !isOfKind(item, kind)) throw malformed(`header's ${name} is malformed`);
    fields.set(name, item);
  }
  const field = (name: BaseHeaderField) => fields.get(name) as Uint8Array;
  const number = Number(decodeQuantity(field("number")));
  if (!Number.isSafeInteger(number)) throw malformed("header's number is not a safe integer");
  return { fields, number, transactionsRoot: field("transactionsRoot"), receiptsRoot: field("receiptsRoot") };
}
