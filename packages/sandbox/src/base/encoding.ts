import { decodeBaseHeader, decodeBaseTransaction, decodeQuantity, type RlpItem } from "@attestd/proof/base";
import {
  bytesToHex,
  type Hex,
  hexToBytes,
  numberToHex,
  recoverTransactionAddress,
  type TransactionSerialized,
} from "viem";

type Reader = (item: RlpItem) => unknown;

const QUANTITIES =
  "difficulty number gasLimit gasUsed timestamp baseFeePerGas blobGasUsed excessBlobGas slotNumber".split(" ");
const AUTHORIZATION = "chainId address nonce yParity r s".split(" ");

const bytes = (item: RlpItem) => bytesToHex(item as Uint8Array);
/** Reads JSON-RPC's quantity: no leading zeros, and `0x0` for zero, which is empty in RLP. */
const quantity: Reader = (item) => numberToHex(decodeQuantity(item as Uint8Array));

/** Readers of the fields that are not quantities. */
const TRANSACTION_READERS: Record<string, Reader> = {
  sourceHash: bytes,
  from: bytes,
  address: bytes,
  data: bytes,
  to: (item) => (item.length === 0 ? null : bytes(item)),
  isSystemTx: (item) => decodeQuantity(item as Uint8Array) === 1n,
  blobVersionedHashes: (item) => (item as RlpItem[]).map(bytes),
  accessList: (item) =>
    (item as [RlpItem, RlpItem[]][]).map(([address, storageKeys]) => ({
      address: bytes(address),
      storageKeys: storageKeys.map(bytes),
    })),
  authorizationList: (item) =>
    (item as RlpItem[][]).map((entry) =>
      readTransaction(AUTHORIZATION.map((name, index) => [name, entry[index] as RlpItem])),
    ),
};

/**
 * Returns a block header in JSON-RPC's form.
 * @param rlp the header's RLP, `0x` hex
 * @throws ProofError `malformed`
 */
export function headerFromRlp(rlp: Hex): Record<string, unknown> {
  const { fields } = decodeBaseHeader(hexToBytes(rlp));
  const read = (name: string) => (QUANTITIES.includes(name) ? quantity : bytes);
  return Object.fromEntries([...fields].map(([name, item]) => [name, read(name)(item)]));
}

/**
 * Returns the members of JSON-RPC's transaction object that follow from its bytes; for an unknown type only `type`.
 * @param raw EIP-2718 bytes, `0x` hex
 * @throws ProofError `malformed` when the bytes do not fit their type
 */
export async function transactionFromBytes(raw: Hex): Promise<Record<string, unknown>> {
  const { type: number, fields } = decodeBaseTransaction(hexToBytes(raw));
  const type = numberToHex(number);
  if (fields === undefined) return { type };
  const { data: input, ...members } = readTransaction([...fields]);
  if (type === "0x7e") return { type, ...members, input };
  const from = await recoverTransactionAddress({ serializedTransaction: raw as TransactionSerialized });
  // Nodes also return a typed transaction's parity as `v`.
  return { type, from: from.toLowerCase(), v: members.yParity, ...members, input };
}

function readTransaction(fields: [name: string, item: RlpItem][]): Record<string, unknown> {
  return Object.fromEntries(fields.map(([name, item]) => [name, (TRANSACTION_READERS[name] ?? quantity)(item)]));
}
