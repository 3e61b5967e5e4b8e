export { type AlgorandBlock, blockHash, headerDigest, headerRound, splitBlock } from "./block.ts";
export { type AlgorandInclusion, algorandFormat, type LightHeaderProof } from "./format.ts";
export {
  lightHeaderLeaf,
  proveLeaf,
  type TransactionTree,
  transactionLeaf,
  treeRoot,
  verifyLeaf,
} from "./merkle.ts";
export {
  decodeMsgpack,
  decodeMsgpackMap,
  decodeMsgpackSequence,
  encodeMsgpack,
  getBytes,
  getInteger,
  getMap,
  getString,
  isCanonicalMsgpack,
  type MsgpackKey,
  type MsgpackMap,
  type MsgpackValue,
  RawString,
  structMap,
} from "./msgpack.ts";
export { ALGORAND_MAINNET, ALGORAND_MAINNET_GENESIS_HASH, algorandCaip2, isAlgorandCaip2 } from "./network.ts";
export {
  ALGORAND_ID,
  decodeAddress,
  decodeTransaction,
  encodeAddress,
  isAlgorandAddress,
  isAlgorandTxId,
  isCanonicalTransaction,
  restoreTransaction,
  transactionDigest,
  txid,
} from "./transaction.ts";
