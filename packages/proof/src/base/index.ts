export * from "./format.ts";
export * from "./header.ts";
export * from "./network.ts";
export * from "./receipt.ts";
export * from "./rlp.ts";
export {
  BASE_HASH,
  type BaseTransaction,
  baseTxHash,
  decodeBaseTransaction,
  transactionChainId,
} from "./transaction.ts";
export * from "./trie.ts";
