import { createPrivateKey, generateKeyPairSync, sign } from "node:crypto";
import { encodeAddress } from "@attestd/proof/algorand";
import { concatBytes, toBase64Url } from "@attestd/proof/encoding";
import { secretKeyToMnemonic, type Transaction } from "algosdk";

export const ROLES = [
  "dispenser",
  "payer",
  "attestor",
  "payTo",
  "feePayer",
  "secondFeePayer",
  "thirdFeePayer",
] as const;
export type Role = (typeof ROLES)[number];

/** An account with keys made by this sandbox. */
export interface SandboxAccount {
  address: string;
  mnemonic: string;
  /** 64 bytes: seed, then public key. */
  secretKey: Uint8Array;
}

/** A random key, 64 bytes: seed, then public key. Node makes and uses them fifty times as fast as algosdk does. */
export function makeSecretKey(): Uint8Array {
  const { d = "", x = "" } = generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" });
  return concatBytes(Buffer.from(d, "base64url"), Buffer.from(x, "base64url"));
}

/** @param secretKey 64 bytes: seed, then public key */
export function accountOf(secretKey: Uint8Array): SandboxAccount {
  return { address: encodeAddress(secretKey.subarray(32)), mnemonic: secretKeyToMnemonic(secretKey), secretKey };
}

/** The account's ed25519 signature of the bytes, 64 bytes. */
export function signBytes({ secretKey }: SandboxAccount, bytes: Uint8Array): Uint8Array {
  const [d, x] = [toBase64Url(secretKey.subarray(0, 32)), toBase64Url(secretKey.subarray(32))];
  return sign(null, bytes, createPrivateKey({ key: { kty: "OKP", crv: "Ed25519", d, x }, format: "jwk" }));
}

/** The transaction with the account's signature, in canonical msgpack. */
export function signTransaction(account: SandboxAccount, transaction: Transaction): Uint8Array {
  return transaction.attachSignature(account.address, signBytes(account, transaction.bytesToSign()));
}
