import type { AlgorandSourceInclusionItem } from "@attestd/proof/evidence";
import type { KeptStake, Stake } from "./journal.ts";

/**
 * How many rounds before its attestation a source may stand for its evidence to be collected: what ordinary nodes serve, 1,000,
 * less the time to collect it. A state proof of MainNet takes 300 KB, and so those of 1,000 older sources would take 300 MB, for
 * the price of one batch.
 */
export const RECENT_ROUNDS = 900;

/**
 * How far the evidence of a source's own block has come (docs/format.md, "Evidence"):
 *
 * - `waiting`: nothing is kept yet
 * - `included`: the header of its block, and of a transaction that it stands under that
 * - `whole`: also that stake has signed for that header
 * - `absent`: it could not be had; what was there before is kept
 */
export type SourceState = "waiting" | "included" | "whole" | "absent";
export type UnfinishedSourceState = "waiting" | "included";

/** The header of a source's block; of a transaction also what leads from it to the header. */
export type SourceHeader = {
  /** Canonical msgpack, base64. */
  headerBase64: string;
  transaction?: Pick<AlgorandSourceInclusionItem, "index" | "stibBase64" | "siblings">;
};

/** A source whose evidence is unfinished. */
export type UnfinishedSource = {
  /** Of the bundle; of a batch, that of the item. */
  id: string;
  /** As it was attested. */
  blockHash: string;
  /** Absent where the block itself is the source. */
  txnId?: string;
  /** When the call was prepared, Unix ms. */
  since: number;
  /** But in state `waiting`. */
  header?: SourceHeader;
};

/** The evidence of a source's own block. */
export type KeptSource = {
  state: SourceState;
  /** Of its block. */
  round: number;
  header?: SourceHeader;
  /** Of state `whole`. */
  stake?: KeptStake;
};

/** A step of a source's evidence. `included` begins in `waiting`, `whole` in `included`, and the others in either. */
export type SourceStep = { id: string } & (
  | { to: "included"; header: SourceHeader }
  | ({ to: "whole" } & Stake)
  | { to: "absent" | "waiting" }
);

/**
 * The evidence of the sources of delivered bundles, where they stand in recent blocks of the ledger's own network. The commit
 * of a delivered bundle MUST begin it, in state `waiting`, for each of `SealedBundle.sources`. A promise that resolves MUST
 * mean that the change survives the loss of power.
 */
export interface SourceJournal {
  /** The lowest round of an unfinished source in a state that is due. */
  dueSourceRound(state: UnfinishedSourceState, now: number): Promise<number | undefined>;

  /** Unfinished sources of a round, at most `limit`. */
  unfinishedSources(state: UnfinishedSourceState, round: number, limit: number): Promise<UnfinishedSource[]>;

  /** Takes steps of a round's sources, in one commit. */
  stepSources(steps: readonly SourceStep[]): Promise<void>;

  /** Makes a round's sources in a state due later. @param due Unix ms */
  postponeSources(state: UnfinishedSourceState, round: number, due: number): Promise<void>;

  /** The evidence of the source of a delivered bundle, by the bundle's id, or by that of an item of a batch. */
  source(id: string): Promise<KeptSource | undefined>;
}
