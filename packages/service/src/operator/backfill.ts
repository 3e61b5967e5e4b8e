import { newestBlocks, openCollector } from "../networks/evidence.ts";
import { type OperatorOptions, openSession, type Settings } from "./session.ts";

/** How many rounds had evidence that was not whole, and which of them still have. */
export type Backfill = { rounds: number; left: number[] };

/**
 * Collects the evidence that is not whole now, from the nodes of the settings: after an outage, from one that keeps old blocks.
 * What was collected before an error stays.
 *
 * @param settings with such a node first in ALGOD_URL
 * @throws journal_in_use where another process has the journal alone; providers_unavailable when no node answers
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
