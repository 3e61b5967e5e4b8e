import type { KeyEntry } from "@attestd/proof";

/** The status of a key, in a word. */
export function statusOf({ untilRound, revokedRound }: KeyEntry): string {
  if (revokedRound !== undefined) return "revoked";
  return untilRound === undefined ? "current" : "retired";
}

/** The rounds in which a key is valid, in words. */
export function spanOf({ fromRound, untilRound, revokedRound }: KeyEntry): string {
  const span = untilRound === undefined ? `from round ${fromRound} on` : `rounds ${fromRound} to ${untilRound - 1}`;
  return revokedRound === undefined ? span : `${span}, withdrawn from round ${revokedRound} on`;
}
