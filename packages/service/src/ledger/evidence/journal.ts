import type { AlgorandInclusionItem } from "@attestd/proof/evidence";
import type { Checkpoint, StateProofMessage } from "@attestd/proof/state-proof";

/**
 * How far the evidence of a delivered attestation has come (docs/format.md, "Evidence"):
 *
 * - `waiting`: nothing is kept yet
 * - `included`: that the attestation stands under the header of its round
 * - `whole`: also that stake has signed for that header
 * - `impossible`: as `included`, and no state proof will ever attest the round
 */
export type EvidenceState = "waiting" | "included" | "whole" | "impossible";
export type UnfinishedState = Exclude<EvidenceState, "whole">;

/** A delivered attestation of which nothing is kept yet. `txnId`: of its transaction, which identifies the evidence. */
export type Delivered = { txnId: string; bundle: string };
/** A delivered attestation in state `included`. */
export type Included = { txnId: string; inclusion: AlgorandInclusionItem };

/** The evidence of a delivered bundle. */
export type KeptEvidence = {
  /** Of the bundle; of an item of a batch, of its head: one evidence is for all items. */
  bundleId: string;
  state: EvidenceState;
  /** In which the attestation stands. */
  round: number;
  inclusion?: AlgorandInclusionItem;
  /** Of state `whole`. */
  stake?: KeptStake;
};

/** A state proof as it is kept, without its bytes. `sha256`: lower-case hex. */
export type KeptStateProof = { sha256: string; message: StateProofMessage; checkpoint: Checkpoint };

/** From a header's light header to the commitment of a state proof's message, base64 of 32 bytes each. */
type Siblings = { siblings: readonly string[] };

/** That stake has signed for a header, by a state proof that is kept. */
export type Stake = Siblings & { stateProofSha256: string };
/** The same, read with the state proof. */
export type KeptStake = Siblings & KeptStateProof;

/**
 * A step of an attestation's evidence. Each begins in one state, and changes nothing in any other: `included` in `waiting`,
 * `whole` in `included` and `impossible`, `impossible` in `included`; `waiting` takes an inclusion back.
 */
export type EvidenceStep = { txnId: string } & (
  | { to: "included"; inclusion: AlgorandInclusionItem }
  | ({ to: "whole" } & Stake)
  | { to: "impossible" | "waiting" }
);

/**
 * The evidence of delivered attestations as it is kept, beside the calls. The commit of a delivered bundle MUST begin its
 * evidence, in state `waiting`. A promise that resolves MUST mean that the change survives the loss of power.
 *
 * Whoever removes calls or bundles removes their evidence with them, and then the state proofs that no evidence names.
 */
export interface EvidenceJournal {
  /**
   * Whether this replica collects. MUST be true of at most one replica, as long as it lives, however many ask: what a node
   * is asked for is asked once. Collecting does not rest on it, because every step may be taken twice.
   */
  collects(): Promise<boolean>;

  /** The round of an unfinished attestation in a state that is due: the one that has been due for longest. */
  dueRound(state: UnfinishedState, now: number): Promise<number | undefined>;

  /** Attestations of a round in state `waiting`, at most `limit`. */
  waiting(round: number, limit: number): Promise<Delivered[]>;

  /** Attestations of a round in state `included`, at most `limit`. */
  included(round: number, limit: number): Promise<Included[]>;

  /** The rounds from `first` to `last` with unfinished attestations in a state, ascending. */
  unfinishedRounds(state: UnfinishedState, first: number, last: number): Promise<number[]>;

  /** Takes steps of a round's attestations, in one commit. */
  step(steps: readonly EvidenceStep[]): Promise<void>;

  /** Makes a round's attestations in a state due later. @param due Unix ms */
  postpone(state: UnfinishedState, round: number, due: number): Promise<void>;

  /** Keeps a state proof, once. @param content its canonical msgpack */
  keepStateProof(proof: KeptStateProof, content: Uint8Array): Promise<void>;

  /** The kept state proof that attests a round. */
  stateProofOf(round: number): Promise<KeptStateProof | undefined>;

  /** A state proof's canonical msgpack. @param sha256 lower-case hex */
  stateProof(sha256: string): Promise<Uint8Array | undefined>;

  /** The evidence of a delivered bundle, by the bundle's id. */
  evidence(bundleId: string): Promise<KeptEvidence | undefined>;

  /** The unfinished attestation that has waited for longest, without those that are `impossible`. `since`: Unix ms. */
  oldestUnfinished(): Promise<{ round: number; since: number } | undefined>;
}
