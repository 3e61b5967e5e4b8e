import { keccak_256 } from "@noble/hashes/sha3.js";
import type { IdForm } from "../chain-format.ts";
import { toHex } from "../encoding.ts";
import { malformed } from "../errors.ts";
import type { Keccak256 } from "../signature.ts";
import { decodeQuantity, decodeRlpList, type RlpItem } from "./rlp.ts";

/**
 * What a field may hold: a quantity of at most 32 bytes, or of 8, an address, an address or nothing, a 32-byte hash, any
 * bytes, a list of anything.
 */
type FieldKind = "quantity" | "uint64" | "address" | "address?" | "hash" | "bytes" | "list";

/** A deposit of the OP Stack. */
export const DEPOSIT_TYPE = 0x7e;

/** Reads a list of fields, each `name`, which is a quantity, or `name:kind`. */
function fields(list: string): (readonly [name: string, kind: FieldKind])[] {
  return list.split(" ").map((field) => {
    const [name = "", kind = "quantity"] = field.split(":");
    return [name, kind as FieldKind];
  });
}

const DYNAMIC_FEE = "chainId:uint64 nonce maxPriorityFeePerGas maxFeePerGas gas";
const BLOBS = "maxFeePerBlobGas blobVersionedHashes:list";

/**
 * Fields in their order, by type: legacy (EIP-155), access list (EIP-2930), dynamic fee (EIP-1559), blob (EIP-4844), set
 * code (EIP-7702), deposit (OP Stack). Every other type, such as 0x79 (EIP-8130), is opaque: only its hash is known.
 */
const FIELDS: ReadonlyMap<number, readonly (readonly [name: string, kind: FieldKind])[]> = new Map([
  [0x00, fields("nonce gasPrice gas to:address? value data:bytes v r s")],
  [0x01, fields("chainId:uint64 nonce gasPrice gas to:address? value data:bytes accessList:list yParity r s")],
  [0x02, fields(`${DYNAMIC_FEE} to:address? value data:bytes accessList:list yParity r s`)],
  [0x03, fields(`${DYNAMIC_FEE} to:address value data:bytes accessList:list ${BLOBS} yParity r s`)],
  [0x04, fields(`${DYNAMIC_FEE} to:address value data:bytes accessList:list authorizationList:list yParity r s`)],
  [DEPOSIT_TYPE, fields("sourceHash:hash from:address to:address? mint value gas isSystemTx data:bytes")],
]);

/** A transaction taken apart as far as its type is known. */
export interface BaseTransaction {
  /** EIP-2718 type; 0 for legacy. */
  type: number;
  /** Fields by the names of the EIPs, still as RLP has them; undefined for a type that is opaque here. */
  fields: ReadonlyMap<string, RlpItem> | undefined;
}

/** A transaction's hash, its id: `0x` and 64 lower-case hex digits. `bytes`: EIP-2718, as the block's trie has them. */
export function baseTxHash(bytes: Uint8Array, keccak256: Keccak256 = keccak_256): string {
  return `0x${toHex(keccak256(bytes))}`;
}

/** Transaction and block hashes, in bundles in lower case. */
export const BASE_HASH: IdForm = {
  pattern: /^0x[0-9a-f]{64}$/,
  requestPattern: /^0x[0-9a-fA-F]{64}$/,
  normalize: (id) => id.toLowerCase(),
  description: "0x and 64 hex",
};

/**
 * The EIP-2718 type of a transaction or receipt, by its first byte; 0 for a legacy one, which has none.
 * @throws ProofError `malformed` when they begin as neither
 */
export function transactionType([first]: Uint8Array): number {
  // 0xc0 and above begin a legacy one's list, 0x80 to 0xbf nothing.
  if (first === undefined || (first > 0x7f && first < 0xc0)) throw malformed("not a transaction");
  if (first === 0) throw malformed("a legacy transaction has no type byte");
  return first >= 0xc0 ? 0 : first;
}

/** Whether the fields of a type are known here. */
export function isKnownType(type: number): boolean {
  return FIELDS.has(type);
}

/**
 * Takes EIP-2718 bytes apart.
 * @throws ProofError `malformed` when they are no transaction, or one of a known type that is malformed.
 */
export function decodeBaseTransaction(bytes: Uint8Array): BaseTransaction {
  const type = transactionType(bytes);
  const kinds = FIELDS.get(type);
  if (kinds === undefined) return { type, fields: undefined };
  const items = decodeRlpList(type === 0 ? bytes : bytes.subarray(1));
  if (items.length !== kinds.length) throw malformed(`transaction type ${type}: ${items.length} fields`);
  const fields = kinds.map(([name, kind], index) => {
    const item = items[index];
    if (item === undefined || !isOfKind(item, kind)) throw malformed(`transaction type ${type}: bad ${name}`);
    return [name, item] as const;
  });
  return { type, fields: new Map(fields) };
}

function isOfKind(item: RlpItem, kind: FieldKind): boolean {
  if (Array.isArray(item)) return kind === "list";
  switch (kind) {
    case "quantity":
      return item.length <= 32 && item[0] !== 0;
    case "uint64":
      return item.length <= 8 && item[0] !== 0;
    case "address":
      return item.length === 20;
    case "address?":
      return item.length === 20 || item.length === 0;
    case "hash":
      return item.length === 32;
    default:
      return kind === "bytes";
  }
}

/**
 * The EIP-155 chain id that a transaction's signature covers, below 2^64; undefined where it covers none: a deposit, a
 * legacy transaction from before EIP-155, an opaque type.
 * @throws ProofError `malformed` when a legacy transaction's is 2^64 or more
 */
export function transactionChainId({ type, fields }: BaseTransaction): bigint | undefined {
  const item = fields?.get(type === 0 ? "v" : "chainId");
  if (!(item instanceof Uint8Array)) return undefined;
  const value = decodeQuantity(item);
  if (type !== 0) return value;
  if (value < 35n) return undefined;
  const chainId = (value - 35n) / 2n;
  if (chainId >= 2n ** 64n) throw malformed("transaction type 0: a chain id of 2^64 or more");
  return chainId;
}
