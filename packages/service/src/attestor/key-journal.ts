import type { KeyEntry } from "@attestd/proof";
import type { Attempt } from "../ledger/ledger.ts";

/** From this round on nothing by the key counts. */
export type KeyRevocation = { kid: string; revokedRound: number };

/** What is added to a key history: never changed, and each but the first entry noted on the ledger before it is added. */
export type KeyRecord = { kind: "key"; entry: KeyEntry } | ({ kind: "revocation" } & KeyRevocation);

/** A record on its way into the history: the one transaction that may note it is fixed, and may have left the process. */
export type KeyAnnouncement = { record: KeyRecord; attempt: Attempt };

/**
 * The attestor's keys as they are kept, beside the calls. A promise that resolves MUST mean that the change survives the
 * loss of power.
 */
export interface KeyJournal {
  /** Every entry as it was added, oldest first: without `untilRound` and `revokedRound`, which `readHistory` adds (history.ts). */
  keys(): Promise<KeyEntry[]>;

  /**
   * Adds an entry. MUST add nothing when the history has one of the key: of replicas that start at once, one begins it,
   * so read it again afterwards.
   */
  appendKey(entry: KeyEntry): Promise<void>;

  /** Every revocation, oldest first. */
  revocations(): Promise<KeyRevocation[]>;

  /** Adds a revocation, of a key of the history. MUST add nothing when the key is revoked already. */
  appendRevocation(revocation: KeyRevocation): Promise<void>;

  /** The record that is on its way; one at most. */
  announced(): Promise<KeyAnnouncement | undefined>;

  /** Commits an announcement, unless one stands. MUST be atomic. @returns the one that stands */
  announce(announcement: KeyAnnouncement): Promise<KeyAnnouncement>;

  /**
   * Ends the announcement that this transaction was to note; when it has done so, its record is added in the same
   * commit. MUST do nothing when it is not the one that stands.
   */
  conclude(txid: string, outcome: "noted" | "dead"): Promise<void>;

  /** How many other replicas are alive. */
  others(): Promise<number>;
}
