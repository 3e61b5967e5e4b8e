/* The verifier's functions that a program needs to make state proofs. */
export { signFalcon } from "./falcon.ts";
export { MAX_COINS } from "./form.ts";
export type { VectorProof } from "./vector.ts";
export { proveVector, vectorRoot } from "./vector.ts";
export { keyLeaf, participantLeaf, type SignatureSlot, signatureLeaf } from "./verify.ts";
export { coinsOf, provesWeight } from "./weights.ts";
