import type { Logger } from "pino";
import type { Identity } from "../calls/journal.ts";
import { type Config, configInvalid } from "../config/config.ts";
import type { WholeJournal } from "./journal.ts";
import type { JournalReader } from "./reader.ts";
import { openSqliteJournal } from "./sqlite/journal.ts";
import { openSqliteReader } from "./sqlite/reader.ts";

/*
 * The journal that the settings name. The driver of PostgreSQL is loaded only when it is needed.
 */

type Database = Config["database"];

/** The version of the schema that this release writes, in both kinds of database. */
export { SCHEMA_VERSION } from "./sqlite/schema.ts";

/**
 * @param log of a file that others could read
 * @throws Error when it cannot be opened, or another process has it
 */
export async function openJournal(database: Database, log: Pick<Logger, "warn">): Promise<WholeJournal> {
  try {
    if (database.kind === "sqlite") return await openSqliteJournal(database.path, log);
    const { openPostgresJournal } = await import("./postgres/journal.ts");
    return await openPostgresJournal(database.url);
  } catch (error) {
    throw new Error(`journal.url: ${(error as Error).message}`, { cause: error });
  }
}

/** @param options as `openSqliteReader` takes them. @throws Error when it is not there, or cannot be opened */
export async function openJournalReader(database: Database, options?: { isBrief: boolean }): Promise<JournalReader> {
  if (database.kind === "sqlite") return openSqliteReader(database.path, options);
  const { openPostgresReader } = await import("./postgres/reader.ts");
  return openPostgresReader(database.url);
}

/**
 * Checks that the journal which journal.url names belongs to the configured ledger and, where one is given, account.
 *
 * @param recorded as the journal has it
 * @throws config_invalid
 */
export function requireOwner(recorded: Identity, own: Pick<Identity, "genesisHash"> & Partial<Identity>): void {
  if (recorded.genesisHash !== own.genesisHash)
    throw configInvalid(`journal.url holds the journal of another ledger, of genesis ${recorded.genesisHash}.`);
  if (own.algorandAddress !== undefined && recorded.algorandAddress !== own.algorandAddress)
    throw configInvalid(`journal.url holds the journal of another attestor, ${recorded.algorandAddress}.`);
}
