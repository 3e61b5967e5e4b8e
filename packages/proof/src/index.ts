export { ALGORAND_MAINNET } from "./algorand/network.ts";
export {
  type BatchAnswerItem,
  type BatchHead,
  type BatchItem,
  type BatchStatement,
  MAX_BATCH_ITEMS,
  MIN_BATCH_ITEMS,
} from "./batch.ts";
export { type BatchAnswer, batchOf, itemBundles, MAX_BATCH_BYTES, parseBatch } from "./batch-answer.ts";
export {
  type BlockBundle,
  type Bundle,
  type BundleBlock,
  type BundleType,
  bundleId,
  type InclusionBundle,
  MAX_BUNDLE_BYTES,
  noteOf,
  type ProofBundle,
  parseBundle,
  type SignedBundle,
  signedPart,
} from "./bundle.ts";
export type { BundleAttest, BundleAttestor, BundleSignature, BundleSource, Statement } from "./bundle-members.ts";
export type * from "./chain-format.ts";
export * from "./chains.ts";
export { isProofError, type JsonFault, ProofError, type ProofErrorCode } from "./errors.ts";
export { parseJson } from "./json/parse.ts";
export { checkKeyNotes, type RecordedNote, requireContinuation } from "./keys.ts";
export {
  type BatchNote,
  type BlockNote,
  type KeyNote,
  MAX_NOTE_BYTES,
  type Note,
  parseNote,
  type TransactionNote,
} from "./note.ts";
export { type PaymentReceipt, parsePaymentReceipt, verifyPaymentReceipt } from "./payment-receipt.ts";
export * from "./report.ts";
export { type Crypto, type Keccak256, nobleCrypto, rememberingLast } from "./signature.ts";
export { type KeyEntry, type KeyHistory, keyStatusOf, type PinnedKeys, parseKeyHistory, type Trust } from "./trust.ts";
export * from "./verify.ts";
