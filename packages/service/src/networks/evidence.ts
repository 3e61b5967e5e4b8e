import type { Logger } from "pino";
import type { Clock } from "../clock.ts";
import type { Config } from "../config/config.ts";
import { createCollector } from "../ledger/evidence/collector.ts";
import type { EvidenceJournal } from "../ledger/evidence/journal.ts";
import type { NewestBlocks } from "../ledger/evidence/state-proofs.ts";
import { openEvidenceWork } from "../ledger/evidence/threads.ts";
import { openNodes } from "./nodes.ts";

export type EvidenceOptions = { journal: EvidenceJournal; newest: NewestBlocks; clock: Clock; log: Logger };

/**
 * Opens what collects the evidence of delivered attestations. It has clients of its own, whose open breakers stop nothing else,
 * asks for one thing at a time, and has one thread.
 */
export function openCollector(config: Config, { log, ...options }: EvidenceOptions) {
  const { algorand: nodes } = openNodes(config, log);
  const work = openEvidenceWork();
  const { genesisHash } = config.algorand;
  return { ...createCollector({ nodes, genesisHash, work, log, ...options }), load: work.load, close: work.close };
}
