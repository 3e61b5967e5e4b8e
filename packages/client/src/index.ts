export type { Trust } from "@attestd/proof";
export { formatUsdc, parseUsdc, type Rail, railOf } from "@attestd/proof/rails";
export {
  type Attestation,
  type AttestBlockOptions,
  type AttestOptions,
  attest,
  attestBlock,
  type ProveInclusionOptions,
  type PurchaseOptions,
  proveInclusion,
} from "./attest.ts";
export { authorizationFor, paymentPayload, tokenDomain, typedData } from "./authorization.ts";
export {
  type AttestBatchOptions,
  type AttestedItem,
  attestBatch,
  type Batch,
  type BatchAttestation,
  forgetPayment,
  type Quote,
  quote,
  requestFor,
} from "./batch.ts";
export type { CallOptions, Progress } from "./call.ts";
export type { Clock } from "./clock.ts";
export { AttestError, type AttestErrorCode, type Problem } from "./errors.ts";
export { type FetchEvidenceOptions, type FetchedEvidence, fetchEvidence } from "./evidence.ts";
export { canBeTaken, clockSentence, paymentDate, takenUntil } from "./lifetime.ts";
export { chooseOffer } from "./offers.ts";
export type { SignedReceipt } from "./receipt.ts";
export { type Answer, type ChainName, type PaidRequest, postRequest } from "./request.ts";
export { memoryVault, paymentId, type StoredPayment, type Vault } from "./vault.ts";
export { keyWallet, type Wallet, type WalletKeys, type WalletNodes } from "./wallet.ts";
