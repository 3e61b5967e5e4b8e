import type { ReceiptStatus } from "../chain-format.ts";
import { malformed } from "../errors.ts";
import { decodeQuantity, decodeRlpList, isQuantity } from "./rlp.ts";
import { DEPOSIT_TYPE, isKnownType, transactionType } from "./transaction.ts";

const BLOOM_LENGTH = 256;

/**
 * Reads the status from a receipt: the transaction's EIP-2718 type, then RLP of status (EIP-658), cumulativeGasUsed,
 * logsBloom and logs. A deposit's receipt has up to two more quantities (OP Stack: depositNonce,
 * depositReceiptVersion).
 * @param receipt the bytes in the block's trie
 * @param transaction its EIP-2718 bytes
 * @throws ProofError `malformed`, also for a state root instead of a status: no block of Base has one
 */
export function readReceiptStatus(receipt: Uint8Array, transaction: Uint8Array): ReceiptStatus {
  const type = transactionType(transaction);
  if (transactionType(receipt) !== type) throw malformed("receipt is of another type than its transaction");
  if (!isKnownType(type)) return "unknown";
  const [status, gasUsed, bloom, logs, ...more] = decodeRlpList(type === 0 ? receipt : receipt.subarray(1));
  if (!isQuantity(gasUsed) || !(bloom instanceof Uint8Array) || bloom.length !== BLOOM_LENGTH || !Array.isArray(logs))
    throw malformed("receipt is malformed");
  if (more.length > (type === DEPOSIT_TYPE ? 2 : 0) || !more.every((item) => isQuantity(item)))
    throw malformed(`receipt has ${4 + more.length} fields`);
  if (!isQuantity(status) || status.length > 1 || decodeQuantity(status) > 1n)
    throw malformed("receipt's status is neither 0 nor 1");
  return status.length === 1 ? "succeeded" : "failed";
}
