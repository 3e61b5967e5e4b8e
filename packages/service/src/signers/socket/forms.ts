import type { Signer } from "../signer.ts";

/** The attestor for which the signer signs. */
export type Attestor = Pick<Signer, "pqPublicKey" | "keySha256" | "kid"> & {
  /** The account: 32 bytes, and its address. */
  account: Uint8Array;
  algorandAddress: string;
  /** The limit of a transaction's fee, in microAlgos. */
  maxFee: bigint;
  /** The ledger: genesis hash of 32 bytes, and CAIP-2. */
  genesisHash: Uint8Array;
  ledger: string;
  /** The SHA-256, hex, of the only record of a next key that it may endorse and note on the ledger; default: none. */
  endorse?: string | undefined;
  /** The SHA-256, hex, of the only record of a revocation that it may note on the ledger; default: none. */
  revoke?: string | undefined;
  /** The only address to which it may rekey the account; default: none. */
  rekey?: string | undefined;
};

/** The kind of a request, as the log names it. */
export type Form = {
  form: "bundle" | "receipt" | "endorsement" | "note" | "key-note" | "rekeying" | "probe";
  about: string;
};

/** The signer does not sign this. The message says which rule it breaks. */
export class Refusal extends Error {
  override readonly name = "Refusal";
}

/**
 * Checks that a record is allowed. It may be signed again: an interrupted command asks again, and several equal notes
 * count as one.
 * @param record SHA-256 in hex
 * @throws Refusal unless the signer was started with the option for this record
 */
export function requireRecord(record: string, allowed: string | undefined, option: string): void {
  if (record !== allowed) throw new Refusal(`this signer was not started with ${option} ${record}`);
}
