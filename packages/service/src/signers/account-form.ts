import { falconAccount } from "@attestd/proof/falcon-account";
import { ed25519 } from "@noble/curves/ed25519.js";
import { type AccountFees, feesOf } from "./account-fees.ts";
import type { AccountAlgorithm } from "./signer.ts";

/** A key's account on Algorand, and its fees. */
export type AccountForm = AccountFees & {
  /** The account that belongs to the key: 32 bytes, its address without the checksum. */
  account: Uint8Array;
  /** For a Falcon key: selects its account. */
  salt?: number;
};

/** Returns the form of an account's key. @param publicKey raw */
export function accountForm({
  algorithm,
  publicKey,
}: {
  algorithm: AccountAlgorithm;
  publicKey: Uint8Array;
}): AccountForm {
  if (algorithm === "ed25519") return { account: publicKey, ...feesOf(algorithm) };
  const salt = canonicalSalt(publicKey);
  return { account: falconAccount(salt, publicKey), salt, ...feesOf(algorithm) };
}

/**
 * Returns the lowest salt whose account is not an ed25519 public key, so that no ed25519 key can ever sign for it
 * (go-algorand, `CanonicalPQAddressSalt`).
 */
function canonicalSalt(publicKey: Uint8Array): number {
  for (let salt = 0; salt < 256; salt++) if (!isPoint(falconAccount(salt, publicKey))) return salt;
  throw new RangeError("no salt gives the key an account");
}

/**
 * Whether the 32 bytes decode to a point in go-algorand, where y need not be reduced, and x = 0 may have either sign.
 */
function isPoint(bytes: Uint8Array): boolean {
  try {
    ed25519.Point.fromBytes(bytes, true);
    return true;
  } catch {
    return false;
  }
}
