export { type BaseInclusion, baseFormat } from "./format.ts";
export { type BaseHeader, type BaseHeaderField, baseHeaderHash, decodeBaseHeader, encodeBaseHeader } from "./header.ts";
export { BASE_CHAIN_ID, BASE_MAINNET, evmCaip2 } from "./network.ts";
export { readReceiptStatus } from "./receipt.ts";
export { decodeQuantity, decodeRlp, decodeRlpList, encodeQuantity, encodeRlp, type RlpItem } from "./rlp.ts";
export {
  BASE_HASH,
  type BaseTransaction,
  baseTxHash,
  decodeBaseTransaction,
  isBaseTxHash,
  transactionChainId,
} from "./transaction.ts";
export { type IndexProof, proveIndex, trieRoot, verifyIndex } from "./trie.ts";
