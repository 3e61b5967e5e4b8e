export { ALGORAND_MAINNET } from "./algorand/network.ts";
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
  MAX_BUNDLE_BYTES,
  type ParseOptions,
  type ProofBundle,
  parseBundle,
} from "./bundle.ts";
export type * from "./chain-format.ts";
export * from "./chains.ts";
export { isProofError, type JsonFault, ProofError, type ProofErrorCode } from "./errors.ts";
export { parseJson } from "./json/parse.ts";
export { checkKeyNotes, type RecordedNote, requireContinuation } from "./keys.ts";
export { type BlockNote, type KeyNote, MAX_NOTE_BYTES, type Note, parseNote, type TransactionNote } from "./note.ts";
export { type PaymentReceipt, parsePaymentReceipt, verifyPaymentReceipt } from "./payment-receipt.ts";
export * from "./report.ts";
export { type Crypto, type Keccak256, nobleCrypto } from "./signature.ts";
export { type KeyEntry, type KeyHistory, type PinnedKeys, parseKeyHistory, type Trust } from "./trust.ts";
export * from "./verify.ts";
