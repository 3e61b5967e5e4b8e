import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import { type CollectorOptions, createCollector } from "../ledger/evidence/collector.ts";
import type { NewestBlocks } from "../ledger/evidence/state-proofs.ts";
import { openEvidenceWork } from "../ledger/evidence/threads.ts";
import { systemClock } from "../lib/clock.ts";
import { isUnusable, unavailable } from "../providers/provider.ts";
import { openNodes } from "./nodes.ts";

export type EvidenceOptions = Pick<CollectorOptions, "journal" | "newest" | "log">;

/**
 * Opens the collector of evidence for delivered attestations. It has its own clients, so that their open breakers stop
 * nothing else, asks one question at a time, and has one thread.
 */
export function openCollector(config: Config, { log, ...options }: EvidenceOptions) {
  const { algorand: nodes } = openNodes(config, log);
  const work = openEvidenceWork();
  const { genesisHash } = config.algorand;
  return {
    ...createCollector({ nodes, genesisHash, work, clock: systemClock, log, ...options }),
    load: work.load,
    close: work.close,
  };
}

/**
 * Reads the newest block that a node has, for callers that do not follow rounds.
 * @throws ProviderError when no node answers
 */
export async function newestBlocks(config: Config, log: Logger, signal: AbortSignal): Promise<NewestBlocks> {
  let newest: { round: number; block: Uint8Array } | undefined;
  let failure: unknown;
  for (const algod of openNodes(config, log).algorand.algods) {
    try {
      const round = await algod.lastRound(signal);
      const block = round > (newest?.round ?? 0) ? await algod.block(round, signal) : undefined;
      if (block) newest = { round, block };
    } catch (error) {
      if (signal.aborted || !isUnusable(error)) throw error;
      failure ??= error;
    }
  }
  if (newest === undefined) throw failure ?? unavailable("no node has its newest block");
  const { round: latest, block } = newest;
  return { latest: () => latest, block: (round) => (round === latest ? block : undefined) };
}
