import type { KeyEntry, KeyHistory } from "@attestd/proof/trust";
import type { Signer } from "./signer.ts";

/** Where the key history is kept. */
export type KeyStore = { keys(): Promise<KeyEntry[]>; appendKey(entry: KeyEntry): Promise<void> };

export type HistoryOptions = {
  store: KeyStore;
  signer: Signer;
  /** CAIP-2. */
  ledger: string;
  algorandAddress: string;
  /** Of the service, as the first entry names it. */
  origin: string;
  /** The ledger's round now. */
  round: number;
};

/**
 * Opens the attestor's key history, and begins it where there is none: the first entry starts at the ledger's present
 * round and needs no endorsement (format.md, "Keys").
 *
 * @throws Error when the current entry is of another key, or another account, than those that we were given
 */
export async function openHistory({
  store,
  signer,
  ledger,
  algorandAddress,
  origin,
  round,
}: HistoryOptions): Promise<KeyHistory> {
  const { kid, keySha256, pqPublicKey } = signer;
  if ((await store.keys()).length === 0) {
    await store.appendKey({
      type: "attestor-key",
      version: 1,
      kid,
      keySha256,
      pqPublicKey,
      algorandAddress,
      origin,
      fromRound: round,
    });
  }
  // Read again: of replicas that start at once, one has begun it.
  const keys = await store.keys();
  const current = keys.at(-1);
  if (!current) throw new Error("the key history is empty after it was begun");
  if (current.kid !== kid)
    throw new Error(`ATTESTOR_PQ_SEED is of the key ${kid}, but the history's current key is ${current.kid}.`);
  if (current.algorandAddress !== algorandAddress)
    throw new Error(`ATTESTOR_MNEMONIC is of ${algorandAddress}, but the history names ${current.algorandAddress}.`);
  return { version: 1, ledger, keys };
}
