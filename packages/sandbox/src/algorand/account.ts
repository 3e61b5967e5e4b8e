import { createPrivateKey, sign } from "node:crypto";
import { encodeAddress } from "@attestd/proof/algorand";
import { secretKeyToMnemonic, type Transaction } from "algosdk";

/** microAlgos in the genesis. */
export const ALLOCATION = {
  dispenser: 1_000_000_000_000_000,
  payer: 1_000_000_000,
  attestor: 1_000_000_000,
  payTo: 10_000_000,
  feePayer: 1_000_000_000,
  secondFeePayer: 1_000_000_000,
  thirdFeePayer: 1_000_000_000,
};
export type Role = keyof typeof ALLOCATION;
export const ROLES = Object.keys(ALLOCATION) as Role[];

/** An account with keys made by this sandbox. */
export type SandboxAccount = ReturnType<typeof accountOf>;

/** @param secretKey 64 bytes: seed, then public key */
export function accountOf(secretKey: Uint8Array) {
  return { address: encodeAddress(secretKey.subarray(32)), mnemonic: secretKeyToMnemonic(secretKey), secretKey };
}

/** Signs bytes with the account's key: an Ed25519 signature of 64 bytes. */
export function signBytes({ secretKey }: SandboxAccount, bytes: Uint8Array): Uint8Array {
  const key = Buffer.from(secretKey.subarray(0, 32));
  return sign(null, bytes, createPrivateKey({ key, format: "raw-private", asymmetricKeyType: "ed25519" }));
}

/** Signs a transaction with the account's key, in canonical msgpack. */
export function signTransaction(account: SandboxAccount, transaction: Transaction): Uint8Array {
  return transaction.attachSignature(account.address, signBytes(account, transaction.bytesToSign()));
}
