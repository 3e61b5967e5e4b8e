import type { VerifyReport } from "@attestd/proof";
import type { Checkpoint } from "@attestd/proof/state-proof";
import { groupedUnits } from "@attestd/proof/text";
import { printable } from "./printable.ts";

/** What a reader trusts about the ledger's stake: a checkpoint, or the root of a checkpoint table. */
export type StakeTrust = {
  /** The file's name. */
  name: string;
  checkpoint?: Checkpoint;
  /** Lower-case hex. */
  root?: string;
};

/** Returns the stake that signed for the record, in ALGO, as text. */
export function stakeOf({ recordedBy }: VerifyReport): string | undefined {
  return recordedBy && `${groupedUnits(BigInt(recordedBy.provenWeight), 6)} ALGO`;
}

/** Says what the evidence rests on, or why it shows less; undefined without evidence. */
export function stakeSentence(
  { evidence, recordedBy }: VerifyReport,
  trusts: readonly StakeTrust[],
): string | undefined {
  if (evidence === undefined) return undefined;
  if (recordedBy === undefined)
    return evidence.inclusion === "pass"
      ? "Its evidence shows the block, but no stake that signed for it: it rests on a checkpoint that was not given."
      : "Its evidence does not show where it is recorded.";
  const { round, root } = recordedBy.checkpoint;
  const trust = trusts.find((one) => (root === undefined ? one.checkpoint?.round === round : one.root === root));
  const name = trust ? printable(trust.name) : "a checkpoint's file";
  const by = root === undefined ? `in ${name}` : `by the root in ${name}`;
  return `That rests on the checkpoint of round ${round}, ${by}, which you gave.`;
}
