export { type AlgorandBlock, blockHash, headerDigest, headerRound, splitBlock } from "./algorand/block.ts";
export type { AlgorandInclusion, LightHeaderProof } from "./algorand/format.ts";
export {
  lightHeaderLeaf,
  proveLeaf,
  type TransactionTree,
  transactionLeaf,
  treeRoot,
  verifyLeaf,
} from "./algorand/merkle.ts";
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
} from "./algorand/msgpack.ts";
export { ALGORAND_MAINNET, ALGORAND_MAINNET_GENESIS_HASH, algorandCaip2 } from "./algorand/network.ts";
export {
  decodeAddress,
  decodeTransaction,
  encodeAddress,
  isAlgorandAddress,
  isAlgorandTxId,
  isCanonicalTransaction,
  restoreTransaction,
  transactionDigest,
  txid,
} from "./algorand/transaction.ts";
export type { BaseInclusion } from "./base/format.ts";
export { type BaseHeader, baseHeaderHash, decodeBaseHeader, encodeBaseHeader } from "./base/header.ts";
export { BASE_MAINNET } from "./base/network.ts";
export { readReceiptStatus } from "./base/receipt.ts";
export { decodeRlp, encodeRlp, type RlpItem } from "./base/rlp.ts";
export {
  type BaseTransaction,
  baseTxHash,
  decodeBaseTransaction,
  isBaseTxHash,
  transactionChainId,
} from "./base/transaction.ts";
export { type IndexProof, proveIndex, trieRoot, verifyIndex } from "./base/trie.ts";
export {
  type BlockBundle,
  type Bundle,
  type BundleAttest,
  type BundleAttestor,
  type BundleBlock,
  type BundleSignature,
  type BundleSource,
  type BundleType,
  bundleId,
  type InclusionBundle,
  type ParseOptions,
  type ProofBundle,
  parseBundle,
  signingBytes,
  type UnsignedBundle,
} from "./bundle.ts";
export { canonicalBytes, canonicalize } from "./canonical.ts";
export type { AnyInclusion, ChainFormat, Finding, IdForm, Level, ReceiptStatus } from "./chain-format.ts";
export { CHAINS, chainNamed, chainOf, type Inclusion, inferChain, matchTransactionId } from "./chains.ts";
export {
  concatBytes,
  DecodeError,
  equalBytes,
  fromBase32,
  fromBase64,
  fromBase64Url,
  fromHex,
  fromUtf8,
  toBase32,
  toBase64,
  toBase64Url,
  toHex,
  utf8,
} from "./encoding.ts";
export { FormatError } from "./format.ts";
export { JsonError, type JsonErrorCode, type JsonLimits, type JsonObject, type JsonValue, parseJson } from "./json.ts";
export { checkKeyNotes, keyNotePrefix, keyRevocationHash, type RecordedNote, requireContinuation } from "./keys.ts";
export {
  type BlockNote,
  encodeNote,
  type KeyNote,
  type Note,
  parseNote,
  paymentCommitment,
  type TransactionNote,
} from "./note.ts";
export { type PaymentReceipt, receiptSigningInput, verifyPaymentReceipt } from "./payment-receipt.ts";
export type {
  CheckName,
  CheckResult,
  Conclusion,
  Failure,
  KeyStatus,
  VerifyReport,
  Warning,
} from "./report.ts";
export { conclusionOf } from "./report.ts";
export { type Crypto, type Keccak256, nobleCrypto, verifySignature } from "./signature.ts";
export {
  type AkpJwk,
  jwk,
  type KeyEntry,
  type KeyHistory,
  type KeyIdentity,
  keyEntryBytes,
  keyEntryHash,
  keyId,
  keyIdentity,
  type PinnedKeys,
  parseKeyHistory,
  type Trust,
} from "./trust.ts";
export {
  type ChainFinding,
  type ChainFindings,
  HISTORY_OLD_AFTER,
  mayAskChain,
  type VerifyOptions,
  verify,
  withChain,
} from "./verify.ts";
