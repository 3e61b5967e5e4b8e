import type { KeyEntry } from "@attestd/proof";

/** The rounds in which a key is valid, in words. */
export function spanOf({ fromRound, untilRound, revokedRound }: KeyEntry): string {
  const span = untilRound === undefined ? `from round ${fromRound} on` : `rounds ${fromRound} to ${untilRound - 1}`;
  return revokedRound === undefined ? span : `${span}, withdrawn from round ${revokedRound} on`;
}
