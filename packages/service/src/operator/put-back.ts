import { mayBeBehind } from "../calls/copied.ts";
import type { Settings } from "../config/config.ts";
import { checkSaved } from "../journal/backup.ts";
import { ServiceError } from "../lib/errors.ts";
import { type OperatorOptions, openSession, requireAlone } from "./session.ts";

/** The number of calls that the service will search on the ledger before it attests for them. */
export type Restored = { calls: number };

/**
 * Records that the settings' journal was restored by other means than `restoreBackup`: a disk snapshot, a point-in-time
 * recovery, a standby that was behind.
 * @throws journal_in_use while a service has it open; not_allowed when an SQLite file is damaged, as by the WAL of another one;
 *   Error when it cannot be opened
 */
export async function markRestored(settings: Settings, options: OperatorOptions): Promise<Restored> {
  const { database, ...marked } = await mark(settings, options);
  if (database.kind === "sqlite")
    await checkSaved("sqlite", database.path).catch((cause: Error) => {
      const message = `${cause.message}. Put the right file there again, without -wal and -shm beside it.`;
      throw new ServiceError("not_allowed", message, { cause });
    });
  return marked;
}

async function mark(settings: Settings, options: OperatorOptions) {
  await using session = await openSession(settings, options);
  const journal = await session.journal();
  await requireAlone(journal, "A service has this journal open, or had it seconds ago: stop every replica.");
  await journal.markCopied();
  const until = await journal.copiedUntil();
  const calls = (await journal.open()).filter((call) => mayBeBehind(call, until));
  return { calls: calls.length, database: session.config.database };
}
