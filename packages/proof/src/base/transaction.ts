import { keccak_256 } from "@noble/hashes/sha3.js";
import type { IdForm } from "../chain-format.ts";
import { toHex } from "../encoding.ts";
import { malformed } from "../errors.ts";
import type { Keccak256 } from "../signature.ts";
import { decodeQuantity, decodeRlpList, isQuantity, type RlpItem } from "./rlp.ts";

const isBytes = (item: RlpItem): item is Uint8Array => item instanceof Uint8Array;

/** The kinds of fields, each with its check. */
const KINDS = {
  quantity: (item) => isQuantity(item),
  uint64: (item) => isQuantity(item, 8),
  address: (item) => isBytes(item) && item.length === 20,
  "address?": (item) => isBytes(item) && (item.length === 20 || item.length === 0),
  hash: (item) => isBytes(item) && item.length === 32,
  bytes: isBytes,
  list: Array.isArray,
} satisfies Record<string, (item: RlpItem) => boolean>;
type FieldKind = keyof typeof KINDS;

/** A deposit of the OP Stack. */
export const DEPOSIT_TYPE = 0x7e;

/** Reads a list of fields. Each is `name`, for a quantity, or `name:kind`. */
function fields(list: string): (readonly [name: string, kind: FieldKind])[] {
  return list.split(" ").map((field) => {
    const [name = "", kind = "quantity"] = field.split(":");
    return [name, kind as FieldKind];
  });
}

const DYNAMIC_FEE = "chainId:uint64 nonce maxPriorityFeePerGas maxFeePerGas gas";
const BLOBS = "maxFeePerBlobGas blobVersionedHashes:list";

/**
 * The fields of each type in order: legacy (EIP-155), access list (EIP-2930), dynamic fee (EIP-1559), blob (EIP-4844),
 * set code (EIP-7702), deposit (OP Stack). Every other type, such as 0x79 (EIP-8130), is opaque: only its hash is
 * known.
 */
const FIELDS: ReadonlyMap<number, readonly (readonly [name: string, kind: FieldKind])[]> = new Map([
  [0x00, fields("nonce gasPrice gas to:address? value data:bytes v r s")],
  [0x01, fields("chainId:uint64 nonce gasPrice gas to:address? value data:bytes accessList:list yParity r s")],
  [0x02, fields(`${DYNAMIC_FEE} to:address? value data:bytes accessList:list yParity r s`)],
  [0x03, fields(`${DYNAMIC_FEE} to:address value data:bytes accessList:list ${BLOBS} yParity r s`)],
  [0x04, fields(`${DYNAMIC_FEE} to:address value data:bytes accessList:list authorizationList:list yParity r s`)],
  [DEPOSIT_TYPE, fields("sourceHash:hash from:address to:address? mint value gas isSystemTx data:bytes")],
]);

export interface BaseTransaction {
  /** EIP-2718 type; 0 for legacy. */
  type: number;
  /** Fields by their names in the EIPs, as RLP items; undefined for an opaque type. */
  fields: ReadonlyMap<string, RlpItem> | undefined;
}

/** A transaction's id, its hash: `0x` and 64 lower-case hex digits. @param bytes EIP-2718 */
export function baseTxHash(bytes: Uint8Array, keccak256: Keccak256 = keccak_256): string {
  return `0x${toHex(keccak256(bytes))}`;
}

/** A transaction or block hash; bundles have it in lower case. */
export const BASE_HASH: IdForm = {
  pattern: /^0x[0-9a-f]{64}$/,
  requestPattern: /^0x[0-9a-fA-F]{64}$/,
  normalize: (id) => id.toLowerCase(),
  description: "0x and 64 hex",
};

/**
 * Returns the EIP-2718 type of a transaction or receipt, from its first byte; 0 for a legacy one, which has no type
 * byte.
 * @throws ProofError `malformed` when the first byte starts neither
 */
export function transactionType([first]: Uint8Array): number {
  // A legacy transaction is an RLP list, which begins with 0xc0 or above. No type is above 0x7f (EIP-2718).
  if (first === undefined || (first > 0x7f && first < 0xc0)) throw malformed("not a transaction");
  if (first === 0) throw malformed("a legacy transaction has no type byte");
  return first >= 0xc0 ? 0 : first;
}

/** Whether `decodeBaseTransaction` knows the fields of a type. */
export function isKnownType(type: number): boolean {
  return FIELDS.has(type);
}

/** Decodes EIP-2718 bytes. Unknown types are opaque, not errors. @throws ProofError `malformed` */
export function decodeBaseTransaction(bytes: Uint8Array): BaseTransaction {
  const type = transactionType(bytes);
  const kinds = FIELDS.get(type);
  if (kinds === undefined) return { type, fields: undefined };
  const items = decodeRlpList(type === 0 ? bytes : bytes.subarray(1));
  if (items.length !== kinds.length) throw malformed(`transaction type ${type}: ${items.length} fields`);
  const fields = kinds.map(([name, kind], index) => {
    const item = items[index];
    if (item === undefined || !KINDS[kind](item)) throw malformed(`transaction type ${type}: bad ${name}`);
    return [name, item] as const;
  });
  return { type, fields: new Map(fields) };
}

/**
 * Returns the EIP-155 chain id that a transaction's signature covers, below 2^64; undefined if it covers none: a
 * deposit, a legacy transaction from before EIP-155, an opaque type.
 * @throws ProofError `malformed` when a legacy transaction's chain id is 2^64 or more
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
