import type { Logger } from "pino";
import type { KeyJournal } from "../attestor/key-journal.ts";
import type { Journal } from "../calls/journal.ts";
import type { Config } from "../config/config.ts";
import { openSqliteJournal } from "./sqlite/journal.ts";

/**
 * Opens the journal that the settings name; the driver of PostgreSQL is loaded only for one.
 *
 * @param log told when others could read it
 * @throws Error when it cannot be opened, or another process has it
 */
export async function openJournal(
  { database }: Pick<Config, "database">,
  log: Pick<Logger, "warn">,
): Promise<Journal & KeyJournal> {
  if (database.kind === "sqlite") return openSqliteJournal(database.path, log);
  const { openPostgresJournal } = await import("./postgres/journal.ts");
  return openPostgresJournal(database.url);
}
