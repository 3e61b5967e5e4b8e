import type { Config } from "../config/config.ts";
import type { SavedJournal } from "./reader.ts";
import { checkSqliteCopy, copySqlite, restoreSqlite } from "./sqlite/backup.ts";

type Database = Config["database"];

/** The name of the one file into which a journal is saved. */
export function savedName(kind: Database["kind"]): string {
  return kind === "sqlite" ? "journal.sqlite" : "journal.ndjson";
}

/**
 * Saves a journal as it is at one moment, while services sell: it holds up none of their commits.
 *
 * @param file to be made
 * @throws Error when there is no journal, or it cannot be read
 */
export async function saveJournal(database: Database, file: string): Promise<void> {
  if (database.kind === "sqlite") return copySqlite(database.path, file);
  const { dumpPostgres } = await import("./postgres/backup.ts");
  return dumpPostgres(database.url, file);
}

/** Reads a saved journal whole. @throws Error when it is damaged */
export async function checkSaved(kind: Database["kind"], file: string): Promise<SavedJournal> {
  if (kind === "sqlite") return checkSqliteCopy(file);
  const { checkDump } = await import("./postgres/backup.ts");
  return checkDump(file);
}

/**
 * Puts a saved journal where there is none.
 *
 * @throws Error when the database has a journal already, is of another kind or schema, or cannot be written; nothing is
 *   changed then
 */
export async function restoreJournal(kind: Database["kind"], file: string, database: Database): Promise<void> {
  if (database.kind !== kind) {
    const other = kind === "sqlite" ? "sqlite:<path>" : "postgres://…";
    throw new Error(`the backup is of a journal in ${kind}: set journal.url to ${other}`);
  }
  if (database.kind === "sqlite") return restoreSqlite(file, database.path);
  const { loadDump } = await import("./postgres/backup.ts");
  return loadDump(file, database.url);
}
