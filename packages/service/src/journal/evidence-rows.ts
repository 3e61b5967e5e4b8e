import type { KeptStake } from "../ledger/evidence/journal.ts";
import { withHead } from "../subjects/batch-answer.ts";

/** Bytes of bundles after which no further one is read at once. */
export const MAX_WAITING_BYTES = 1024 * 1024;

/**
 * What verifies of a delivered bundle: all of it, or of a batch the first item, whose head all items have.
 *
 * @param body of the row, null where the bundle stands apart
 * @param parts all, or of a batch the first
 */
export function verifiableText(body: string | null, parts: readonly string[]): string {
  const [first] = parts;
  if (body === null) return parts.join("");
  return first === undefined ? body : withHead(body, first);
}

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
