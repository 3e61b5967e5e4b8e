import type { KeptStake } from "../ledger/evidence/journal.ts";

/** A row that is joined with its state proof, its JSON parsed. */
export type EvidenceRow<K> = Omit<K, "stake"> & (KeptStake | { [column in keyof KeptStake]: null });

/** The evidence in a row: the columns of its state proof are `stake`, and what is NULL is left out. */
export function keptOf<K extends { stake?: KeptStake }>(row: EvidenceRow<K>): K {
  const { sha256, message, checkpoint, siblings, ...own } = row;
  return { ...present(own), ...(sha256 !== null && { stake: { sha256, message, checkpoint, siblings } }) } as K;
}

/** The columns that are not NULL. */
export function present<T>(row: object): T {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as T;
}
