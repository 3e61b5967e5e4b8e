/* Falcon-1024, whose tables take 15 ms to make when this is loaded; what its accounts are called needs none of them. */

export * from "./falcon-account.ts";
export { makeFalconKey, signFalcon, verifyFalcon } from "./state-proof/falcon.ts";
