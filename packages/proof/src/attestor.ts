export { batchStatementLeaf, parseBatchHead } from "./batch.ts";
export { signingBytes, type UnsignedBundle } from "./bundle.ts";
export { keyNotePrefix, keyRevocationBytes, keyRevocationHash } from "./keys.ts";
export { encodeNote, noteOrFault, paymentCommitment } from "./note.ts";
export { receiptSigningInput } from "./payment-receipt.ts";
export { type MerkleTree as BatchTree, merkleTree as batchTree } from "./rfc6962.ts";
export {
  ML_DSA_65_PUBLIC_KEY_LENGTH,
  ML_DSA_65_SIGNATURE_LENGTH,
  verifySignature,
} from "./signature.ts";
export { jwk, type KeyIdentity, keyEntryBytes, keyEntryHash, keyId, keyIdentity, parseKeyEntry } from "./trust.ts";
