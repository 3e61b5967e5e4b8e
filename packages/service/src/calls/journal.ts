import { ServiceError } from "../lib/errors.ts";
import type { PayeeJournal } from "../payment/open.ts";
import type { RailName } from "../payment/rails/rail.ts";
import type { BatchItemEvidence, Evidence } from "../subjects/product.ts";
import type { Call, CallHead, KeptBundle } from "./call.ts";
import type { RefusedJournal } from "./refused.ts";

/** @param key of the call */
export function callStale(key: string): ServiceError {
  return new ServiceError("call_stale", `the call of ${key} has moved on`);
}

/** @param key of the call that was to get the name */
export function nameTaken(key: string): ServiceError {
  return new ServiceError("name_taken", `a name of the call of ${key} is another call's`);
}

/** The error of an insertion whose expectation no longer stands. */
export function expectationLost(): ServiceError {
  return new ServiceError("expectation_lost", "the notice to other replicas that a call may begin has lapsed");
}

/** A notice to other replicas that a call may begin. It stands until it is ended, or until its replica is gone. */
export type Expectation = {
  /** Ends it; calling it again does nothing. */
  end(): void;
};

/** The attestor and the ledger of a journal: it has the calls of one attestor on one ledger. */
export type Identity = { genesisHash: string; algorandAddress: string };

/** How long the leases of a replica outlive its last sign of life, in ms. */
export const LEASE_MS = 15_000;

/** A call that is not at rest, without what may be large. */
export type OpenCall = Pick<Call, "key" | "state" | "createdAt"> & { readonly bundle?: Pick<KeptBundle, "id"> };

/** The call that holds a payment key: `call` where the payment has come again byte for byte. */
export type KnownCall = { readonly head: CallHead; readonly call?: Call | undefined };

/** Where a delivered bundle stands. */
export type StoredBundle = {
  /** Of the bundle; of a batch's item, of its head. */
  bundleId: string;
  /** Of the whole answer, in UTF-8; of an item, with the head. */
  bytes: number;
  /** Of a batch's item: its place. */
  place: number | null;
  /** In how many parts it stands apart (apart.ts). */
  parts: number;
};

/** Notifications about calls. Only hints: they may be lost, late or doubled, so no caller may rely on them alone. */
export type Listener = {
  /** A call became final, here or in another replica. */
  ended?(key: string): void;
  /** A replica gave its leases up. */
  freed?(): void;
};

/**
 * The journal of paid calls and what must outlive a process beside them.
 *
 * A promise that resolves MUST mean that the change survives the loss of power. After one that rejects, the change may
 * have happened or not: read again. Rows are never deleted: payment keys and bundles are kept for ever (signatures are
 * hedged, so a bundle's bytes cannot be made again). But for their evidence: equal evidence MUST be kept once, however
 * many calls have it, and dropped with the last call that has it. What a replay and an audit do not need goes when the
 * operator has it pruned (pruning.ts).
 *
 * An open `Journal` is one replica. Where several may be open on one database, leases say which of them carries a call, so
 * that work is not done twice. Leases do not make it safe, because a replica that was delayed may act on a lease that it
 * has lost: safety comes from `version`, and from effects that may happen twice.
 */
export interface Journal extends PayeeJournal, RefusedJournal {
  /** Records the identity on first use. @returns the recorded one, which the caller compares with its own */
  claim(identity: Identity): Promise<Identity>;

  /** 32 random bytes, made on first use: the same for every replica, and for nobody else. */
  secret(): Promise<Uint8Array>;

  /**
   * The row of the call that holds a payment key, or an alias of one: as it was committed, but for what stands apart (`rowOf`).
   * MUST show every change that has resolved, in any replica.
   */
  find(key: string): Promise<Call | undefined>;

  /**
   * As `find`, for a request whose signature nobody has checked. MUST read nothing that may be large, but for a payment that has
   * come again byte for byte.
   *
   * @param sha256 `payloadSha256` of the payment that has come
   */
  look(key: string, sha256: string): Promise<KnownCall | undefined>;

  /**
   * Tells every other replica that a call may begin here, of a payment that has these names. An expectation MUST end with
   * its replica, however that ends.
   *
   * @throws journal_busy when too many stand
   */
  expect(names: readonly string[]): Promise<Expectation>;

  /**
   * Whether an expectation of another replica stands under a name. When none does, `find` MUST find every call that such
   * an expectation led to. One of this replica does not count once it has ended.
   */
  isExpectedElsewhere(name: string): Promise<boolean>;

  /**
   * Commits a new call, and gives its lease to this replica. MUST be atomic: of any number of calls that share a
   * key or an alias, in any number of replicas, one is inserted.
   *
   * @param expectation MUST stand until the call is committed
   * @returns the call that holds the key: `call` itself, or the earlier one
   * @throws expectation_lost when the expectation does not stand; nothing was inserted then
   */
  insert(call: Call, expectation?: Expectation): Promise<Call>;

  /**
   * Commits a transition. The version alone decides: the lease MUST NOT be asked for, and is given up when the call is
   * at rest.
   *
   * @param after the call, its version one above the stored one; what the state machine adds to `Call` is JSON. A
   *   bundle that was just sealed is kept, and what of it stands apart is not returned with the row again
   * @throws call_stale when the stored version is another; name_taken when its `refund` is a name of another call
   */
  update(after: Call): Promise<void>;

  /** Every call that is not at rest (machine.ts), whichever replica carries it, oldest first. */
  open(): Promise<OpenCall[]>;

  /** The evidence of a call that is not final, whether or not it stands apart; of a large batch the head. */
  evidenceOf(key: string): Promise<Evidence | undefined>;
  /**
   * Items of a large batch that is not final, from a place on, at least one while there is any: as many as have at most `bytes`
   * together as JSON.
   */
  evidenceItemsOf(key: string, from: number, bytes: number): Promise<BatchItemEvidence[]>;

  /**
   * Takes the leases of calls that are not at rest and that no living replica holds, oldest first; among them calls of
   * this replica whose insertion it never learnt of. MUST read nothing that may be large.
   *
   * MUST NOT take a call from a replica that was opened or renewed its leases less than LEASE_MS ago, and MUST give a
   * call to one replica only, however many ask at once. Time is the journal's own; a replica's clock MUST NOT count.
   */
  lease(limit: number): Promise<CallHead[]>;

  /** Whether this replica holds the lease of a call, as far as it knows without asking. */
  holds(key: string): boolean;

  /**
   * What a payer has promised us and not paid yet, in atomic units of the rail's asset: the sum over its calls that are
   * `settling`.
   */
  exposure(rail: RailName, payer: string): Promise<bigint>;

  /**
   * A sign of life: keeps every lease of this replica for another LEASE_MS.
   *
   * @returns keys of the calls that were held until now and are not any more: taken by another replica, or ended by one
   */
  renew(): Promise<string[]>;

  /** Gives every lease up; another replica MUST be able to take them at once. Closing does not: the leases run out. */
  release(): Promise<void>;

  /** Notifies a listener from now on. @returns a function that ends it */
  listen(listener: Listener): () => void;

  /** Finds a delivered bundle by its id, or by that of a batch's item. MUST read nothing that may be large. */
  stored(id: string): Promise<StoredBundle | undefined>;
  /** What the row holds of a delivered bundle: all of it, or the head of a batch; undefined where it stands apart. */
  bodyOf(bundleId: string): Promise<string | undefined>;
  /** Parts of a bundle from a place on, at least one: as many as have at most `bytes` together. */
  partsOf(bundleId: string, from: number, bytes: number): Promise<string[]>;

  /**
   * Bytes that are free for the journal; undefined where that cannot be known. A database on another host shows it only
   * by refusing: for a minute after it has refused a commit for want of room, there are none.
   */
  freeBytes(): Promise<bigint | undefined>;

  /** Bytes that the journal takes; undefined where that cannot be known. */
  sizeBytes(): Promise<number | undefined>;

  /** Ends after everything handed in is committed. Nothing may be handed in afterwards. */
  close(): Promise<void>;
}
