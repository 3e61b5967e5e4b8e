import type { Signer } from "../signer.ts";

/** Whose signer it is. */
export type Attestor = Pick<Signer, "pqPublicKey" | "keySha256" | "kid"> & {
  /** The account: 32 bytes, and its address. */
  account: Uint8Array;
  algorandAddress: string;
  /** microAlgos that one of its transactions may pay. */
  maxFee: bigint;
  /** Of the ledger: 32 bytes, and CAIP-2. */
  genesisHash: Uint8Array;
  ledger: string;
  /** The one record of a next key that it may endorse and note on the ledger, by its SHA-256 in hex; none unless given. */
  endorse?: string | undefined;
  /** The one record of a revocation that it may note on the ledger, by its SHA-256 in hex; none unless given. */
  revoke?: string | undefined;
  /** The one address to which it may rekey the account; none unless given. */
  rekey?: string | undefined;
};

/** What is asked for, as the log names it. */
export type Form = {
  form: "bundle" | "receipt" | "endorsement" | "note" | "key-note" | "rekeying" | "probe";
  about: string;
};

/** The signer does not sign this. The message says which rule it breaks. */
export class Refusal extends Error {
  override readonly name = "Refusal";
}

/**
 * A record that is allowed may be signed again: a command that was interrupted asks again, and several notes that say the same count
 * as one.
 *
 * @param record SHA-256 in hex
 * @throws Refusal unless the signer was started with the option for this record
 */
export function requireRecord(record: string, allowed: string | undefined, option: string): void {
  if (record !== allowed) throw new Refusal(`this signer was not started with ${option} ${record}`);
}
