import type { KeyEntry } from "@attestd/proof";
import type { Attempt } from "../ledger/ledger.ts";

/** A key's revocation: from this round on the key does not count. */
export type KeyRevocation = { kid: string; revokedRound: number };

/**
 * A record in a key history. It never changes. Each one but the first entry is noted on the ledger before it is added.
 */
export type KeyRecord = { kind: "key"; entry: KeyEntry } | ({ kind: "revocation" } & KeyRevocation);

/** A record on its way into the history. Its note's only transaction is fixed, and may already have been sent. */
export type KeyAnnouncement = { record: KeyRecord; attempt: Attempt };

/**
 * Stores the attestor's keys next to the calls. A promise that resolves MUST mean that the change survives a power
 * failure.
 */
export interface KeyJournal {
  /**
   * Returns every entry as it was added, oldest first: without `untilRound` and `revokedRound`, which `readHistory`
   * adds (history.ts).
   */
  keys(): Promise<KeyEntry[]>;

  /**
   * Adds an entry. MUST add nothing when the history already has an entry for the key: replicas that start at once all
   * try to add the first, so read the history again afterwards.
   */
  appendKey(entry: KeyEntry): Promise<void>;

  /** Returns every revocation, oldest first. */
  revocations(): Promise<KeyRevocation[]>;

  /** Adds a revocation of a key in the history. MUST add nothing when the key is revoked already. */
  appendRevocation(revocation: KeyRevocation): Promise<void>;

  /** Returns the announced record, if there is one. There is at most one. */
  announced(): Promise<KeyAnnouncement | undefined>;

  /**
   * Commits an announcement, unless there is one. MUST be atomic. @returns the announcement that the journal now has
   */
  announce(announcement: KeyAnnouncement): Promise<KeyAnnouncement>;

  /**
   * Ends the announcement whose note is this transaction. If it was `noted`, its record is added in the same commit.
   * MUST do nothing when the journal has another announcement, or none.
   */
  conclude(txid: string, outcome: "noted" | "dead"): Promise<void>;

  /** Returns how many other replicas are alive. */
  others(): Promise<number>;
}
