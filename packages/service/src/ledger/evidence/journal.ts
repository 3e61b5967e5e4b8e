import type { AlgorandSourceInclusionItem } from "@attestd/proof/evidence";
import type { Checkpoint, StateProofMessage } from "@attestd/proof/state-proof";

/**
 * How many rounds before its attestation a source may stand for its evidence to be collected: what ordinary nodes serve, 1,000,
 * less the time to collect it. A state proof of MainNet takes 300 KB, and so those of 1,000 older sources would take 300 MB, for
 * the price of one batch.
 */
export const RECENT_ROUNDS = 900;

/** What stands in a block of the ledger: the record of a delivered bundle, which is its attestation, or its source. */
export type EvidenceKind = "record" | "source";

/** What waits: records or sources that no block has shown yet, or blocks for which stake has not signed yet. */
export type EvidenceQueue = EvidenceKind | "block";

/** What is looked for in a block. */
export type Sought = {
  /** Absent where the block itself is the source. */
  txnId?: string;
  /** Of a source: of its block, as it was attested. */
  blockHash?: string;
};

/**
 * A record or a source that waits. `id`: of a record that of the bundle, of a batch that of its head; of a source that of the
 * bundle, or of the batch's item.
 */
export type Waiting = Sought & { id: string };

/** What leads from a transaction to the header of its block. */
export type Inclusion = Pick<AlgorandSourceInclusionItem, "index" | "stibBase64" | "siblings">;

/** How records or sources stand in a block. `inclusion`: absent where the block itself is the source. */
export type Shown = { id: string; inclusion?: Inclusion | undefined };

/** A state proof as it is kept, without its bytes. `sha256`: lower-case hex. */
export type KeptStateProof = { sha256: string; message: StateProofMessage; checkpoint: Checkpoint };

/** From a header's light header to the commitment of a state proof's message, base64 of 32 bytes each. */
type Siblings = { siblings: readonly string[] };

/** That stake has signed for a header, by a state proof that is kept. */
export type Stake = Siblings & { stateProofSha256: string };
/** The same, read with the state proof. */
export type KeptStake = Siblings & KeptStateProof;

/**
 * A block in which records or sources stand:
 *
 * - `open`: stake has not signed for its header yet
 * - `whole`: it has
 * - `impossible`: no state proof will attest it, or none was found in time
 */
export type KeptBlock = {
  state: "open" | "whole" | "impossible";
  /** Canonical msgpack, base64. */
  headerBase64: string;
  /** Of state `whole`. */
  stake?: KeptStake;
};

/** What is kept of a record or a source. */
export type KeptEvidence = {
  /** As in `Waiting`. */
  id: string;
  /** Of the block in which it stands. */
  round: number;
  /** `absent`: of a source that no node showed in time. */
  state: "waiting" | "included" | "absent";
  /** Of state `included`. */
  block?: KeptBlock;
  /** Of state `included`, but for a source that is the block itself. */
  inclusion?: Inclusion;
};

/** A step of a block. Back to `waiting`: it is not the block of its round, and what stood in it waits again. */
export type BlockStep = { round: number } & (({ to: "whole" } & Stake) | { to: "impossible" } | { to: "waiting" });

/**
 * The evidence of delivered bundles as it is kept, beside the calls (docs/format.md, "Evidence"). The commit that delivers a
 * bundle MUST begin the evidence of its record, and of each of `SealedBundle.sources`. A promise that resolves MUST mean that
 * the change survives the loss of power. Each step may be taken twice, and changes nothing out of its order.
 *
 * Of a round one header is kept, with what is the same for all that stands under it. What is shown by another header is not
 * included before the state proof has shown that the first one was wrong.
 */
export interface EvidenceJournal {
  /**
   * Whether this replica collects. MUST be true of at most one replica, as long as it lives, however many ask: what a node
   * is asked for is asked once. Collecting does not rest on it, because every step may be taken twice.
   */
  collects(): Promise<boolean>;

  /**
   * The round that has been due for longest in a queue; of blocks the lowest that is due, because its state proof verifies the
   * next one.
   * @param now Unix ms
   */
  dueRound(queue: EvidenceQueue, now: number): Promise<number | undefined>;

  /** The rounds of records that wait, or stand in a block that is open; ascending, due or not. */
  unfinishedRounds(): Promise<number[]>;

  /**
   * Makes what waits in a round due later, and gives up its sources that began before a time.
   *
   * @param due Unix ms, as `before`
   * @returns how much waits on, and how much was given up
   */
  postpone(queue: EvidenceQueue, round: number, due: number, before: number): Promise<{ left: number; given: number }>;

  /** What waits in a round, in the order of ids greater than `after`. */
  waiting(kind: EvidenceKind, round: number, after: string, limit: number): Promise<Waiting[]>;

  /**
   * What verifies of a delivered bundle: all of it, or of a batch the first item, whose head all items have.
   * @param id of the bundle, of a batch that of its head
   */
  verifiable(id: string): Promise<string | undefined>;

  /**
   * Keeps a round's header, and that records or sources stand under it.
   *
   * @param due when the block is due to be proven, Unix ms
   * @returns false where another header is kept of the round; nothing is changed then
   */
  include(
    kind: EvidenceKind,
    block: { round: number; headerBase64: string; due: number },
    shown: readonly Shown[],
  ): Promise<boolean>;

  /** The header of a round whose block is open, base64. */
  openBlock(round: number): Promise<string | undefined>;

  /** Takes a step of a block that is open. */
  stepBlock(step: BlockStep): Promise<void>;

  /** Keeps a state proof, once. @param content its canonical msgpack */
  keepStateProof(proof: KeptStateProof, content: Uint8Array): Promise<void>;

  /** The kept state proof that attests a round. */
  stateProofOf(round: number): Promise<KeptStateProof | undefined>;

  /** A state proof's canonical msgpack. @param sha256 lower-case hex */
  stateProof(sha256: string): Promise<Uint8Array | undefined>;

  /** The evidence of a delivered bundle. @param id of the bundle, or of an item of a batch */
  evidence(kind: EvidenceKind, id: string): Promise<KeptEvidence | undefined>;

  /** The record that waits in the lowest round, or stands in the lowest open block. `since`: Unix ms. */
  oldestUnfinished(): Promise<{ round: number; since: number } | undefined>;
}
