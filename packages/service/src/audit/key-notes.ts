import type { RecordedNote } from "@attestd/proof";
import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import { keyNotes } from "../ledger/search.ts";
import { readableChains } from "../networks/readable-chains.ts";

/**
 * Reads the key notes that an account has sent from a round on, as the indexers agree on them.
 * @returns the notes up to the newest round that every indexer has, `upTo`
 * @throws ProviderError; the signal's reason when the signal comes first
 */
export async function recordedKeyNotes(
  config: Config,
  { account, from, log, signal }: { account: string; from: number; log: Logger; signal: AbortSignal },
): Promise<{ upTo: number; notes: RecordedNote[] }> {
  const { ledger, ledgerHeights } = readableChains(config, log, signal);
  const upTo = (await ledgerHeights.heads()).latest;
  return { upTo, notes: upTo < from ? [] : await keyNotes(ledger, account, { from, to: upTo }) };
}
