import type { KeyEntry } from "@attestd/proof/trust";
import type { RailName } from "../payment/rails/rail.ts";
import type { Call } from "./call.ts";

/** Another writer moved the call since it was read: read it again. */
export class StaleCall extends Error {
  constructor(key: string) {
    super(`the call of ${key} has moved on`);
    this.name = "StaleCall";
  }
}

/** Whose journal this is. A store holds the calls of one attestor on one ledger. */
export type Identity = { genesisHash: string; algorandAddress: string };

/**
 * The journal of paid calls and what must outlive a process beside them.
 *
 * A promise that resolves MUST mean that the change survives the loss of power. Rows are never deleted: payment keys
 * and bundles are kept for ever (signatures are hedged, so a bundle's bytes cannot be made again).
 */
export interface Store {
  /** Records the identity on first use. @returns the recorded one, which the caller compares with its own */
  claim(identity: Identity): Promise<Identity>;

  /** The call that holds a payment key, or an alias of one. */
  find(key: string): Promise<Call | undefined>;

  /**
   * Commits a prepared call. MUST be atomic: of any number of calls that share a key or an alias, one is inserted.
   *
   * @returns the call that holds the key: `call` itself, or the earlier one
   */
  insert(call: Call): Promise<Call>;

  /**
   * Commits a transition.
   *
   * @param after the call, its version one above the stored one
   * @throws StaleCall when the stored version is another
   */
  update(after: Call): Promise<void>;

  /** Every call that is not final, oldest first. */
  open(): Promise<Call[]>;

  /** A delivered bundle by its id. */
  bundle(id: string): Promise<string | undefined>;

  /** Adds payees to those that are, or ever were, ours. */
  rememberPayees(payees: readonly { rail: RailName; address: string }[]): Promise<void>;

  /** Every payee that is, or ever was, ours. */
  payees(): Promise<{ rail: RailName; address: string }[]>;

  /** The key history, oldest first. */
  keys(): Promise<KeyEntry[]>;

  /** Appends an entry to the key history. */
  appendKey(entry: KeyEntry): Promise<void>;

  /** Ends after everything handed in is committed. Nothing may be handed in afterwards. */
  close(): Promise<void>;
}
