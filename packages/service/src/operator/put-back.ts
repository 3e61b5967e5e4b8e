import { mayBeBehind } from "../calls/copied.ts";
import { type OperatorOptions, openSession, requireAlone, type Settings } from "./session.ts";

/** The number of calls that the service will search on the ledger before it attests for them. */
export type PutBack = { calls: number };

/**
 * Records that the settings' journal was restored by other means than `restoreBackup`: a disk snapshot, a point-in-time
 * recovery, a standby that was behind.
 * @throws journal_in_use while a service has it open; Error when it cannot be opened
 */
export async function markPutBack(settings: Settings, options: OperatorOptions): Promise<PutBack> {
  await using session = await openSession(settings, options);
  const journal = await session.journal();
  await requireAlone(journal, "A service has this journal open, or had it seconds ago: stop every replica.");
  await journal.markCopied();
  const until = await journal.copiedUntil();
  const calls = (await journal.open()).filter((call) => mayBeBehind(call, until));
  return { calls: calls.length };
}
