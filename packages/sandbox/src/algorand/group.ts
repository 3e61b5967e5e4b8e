import { groupDigest } from "@attestd/proof/algorand";
import { equalBytes, toBase32 } from "@attestd/proof/encoding";
import { type Consensus, FALCON_SURCHARGE, FREE_NOTE_BYTES, MIN_TXN_FEE } from "./consensus.ts";
import { printMicroAlgos, printMicros } from "./go-print.ts";
import { Rejection } from "./rejection.ts";
import type { SignedTransaction } from "./transaction.ts";

const NO_GROUP = new Uint8Array(32);

/** Millionths of the least fee: an ordinary transaction. */
const ONE = 1_000_000n;

/**
 * Checks that the members name their group, which is the hash of their ids, each computed without its group
 * (go-algorand, `data/transactions/checks.go`).
 * @throws Rejection with a member's index unless the whole group is wrong
 */
export function checkGroup(group: SignedTransaction[]): void {
  const claimed = group[0]?.txn.group;
  if (claimed === undefined && group.length > 1)
    throw new Rejection(`transactionGroup: [0] had zero Group but was submitted in a group of ${group.length}`, 0);
  if (claimed === undefined) return;
  for (const [index, { txn }] of group.entries()) {
    const own = txn.group ?? NO_GROUP;
    if (!equalBytes(own, claimed))
      throw new Rejection(
        `transactionGroup: inconsistent group values: ${toBase32(own)} != ${toBase32(claimed)}`,
        index,
      );
  }
  const { digest: computed, ids } = groupDigest(group.map(({ txn }) => txn.map));
  if (!equalBytes(claimed, computed))
    throw new Rejection(
      `transactionGroup: incomplete group: ${toBase32(claimed)} != ${toBase32(computed)} ({{} [${ids.map(toBase32).join(" ")}]})`,
    );
}

/**
 * Returns the fees that a group must pay, in millionths of the least fee: for its members, and for what they have
 * beyond an ordinary one.
 */
export function groupUsage(group: SignedTransaction[], { byteSurcharge }: Consensus): bigint {
  return group.reduce((sum, { txn, map }) => {
    const bytes = Math.max(0, txn.noteLength - FREE_NOTE_BYTES);
    return sum + ONE + byteSurcharge * BigInt(bytes) + (map.has("pqsig") ? FALCON_SURCHARGE : 0n);
  }, 0n);
}

/** Returns the microAlgos that the members pay together. */
export function groupFees(group: SignedTransaction[]): bigint {
  return group.reduce((sum, { txn }) => sum + txn.fee, 0n);
}

/** @throws Rejection when the members together pay less than they must */
export function checkGroupFees(group: SignedTransaction[], consensus: Consensus): void {
  const usage = groupUsage(group, consensus);
  const paid = groupFees(group);
  const needed = (MIN_TXN_FEE * usage + ONE - 1n) / ONE;
  if (paid < needed)
    throw new Rejection(
      `txgroup with ${printMicroAlgos(paid)} fees is less than ${printMicroAlgos(needed)} (usage=${printMicros(usage)} * base=${printMicroAlgos(MIN_TXN_FEE)})`,
    );
}
