import type { ReceiptStatus } from "../chain-format.ts";
import { malformed } from "../errors.ts";
import { decodeQuantity, decodeRlpList, type RlpItem } from "./rlp.ts";
import { DEPOSIT_TYPE, isKnownType, transactionType } from "./transaction.ts";

const BLOOM_LENGTH = 256;

/**
 * The status in a transaction's receipt: EIP-2718's type, which is the transaction's, and RLP of status (EIP-658),
 * cumulativeGasUsed, logsBloom and logs; a deposit's has up to two quantities more (OP Stack: depositNonce,
 * depositReceiptVersion). A state root in the status' place, as before Byzantium, is refused: no block of Base has one.
 * @param receipt the bytes in the block's trie
 * @param transaction EIP-2718 bytes, whose receipt it is to be
 * @throws ProofError `malformed` when it is none
 */
export function readReceiptStatus(receipt: Uint8Array, transaction: Uint8Array): ReceiptStatus {
  const type = transactionType(transaction);
  if (transactionType(receipt) !== type) throw malformed("receipt is of another type than its transaction");
  if (!isKnownType(type)) return "unknown";
  const [status, gasUsed, bloom, logs, ...more] = decodeRlpList(type === 0 ? receipt : receipt.subarray(1));
  if (!isQuantity(gasUsed) || !(bloom instanceof Uint8Array) || bloom.length !== BLOOM_LENGTH || !Array.isArray(logs))
    throw malformed("receipt is malformed");
  if (more.length > (type === DEPOSIT_TYPE ? 2 : 0) || !more.every(isQuantity))
    throw malformed(`receipt has ${4 + more.length} fields`);
  if (!isQuantity(status) || status.length > 1 || decodeQuantity(status) > 1n)
    throw malformed("receipt's status is neither 0 nor 1");
  return status.length === 1 ? "succeeded" : "failed";
}

function isQuantity(item: RlpItem | undefined): item is Uint8Array {
  return item instanceof Uint8Array && item.length <= 32 && item[0] !== 0;
}
