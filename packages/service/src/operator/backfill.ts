import type { Settings } from "../config/config.ts";
import { newestBlocks, openCollector } from "../networks/evidence.ts";
import { type OperatorOptions, openSession } from "./session.ts";

/** The number of rounds with incomplete evidence, and the rounds whose evidence is still incomplete. */
export type Backfill = { rounds: number; left: number[] };

/**
 * Collects incomplete evidence from the settings' nodes: after an outage, from a node that keeps old blocks. What was
 * collected before an error is kept.
 * @param settings with such a node first in `chains.algorand.algod`
 * @throws journal_in_use if another process has the journal exclusively; providers_unavailable when no node answers
 */
export async function backfillEvidence(settings: Settings, options: OperatorOptions): Promise<Backfill> {
  await using session = await openSession(settings, options);
  const { config, log, signal } = session;
  const journal = await session.journal();
  const newest = await newestBlocks(config, log, signal);
  await using opened = new AsyncDisposableStack();
  const collector = opened.adopt(openCollector(config, { journal, newest, log }), (one) => one.close());
  return await collector.backfill(signal);
}
