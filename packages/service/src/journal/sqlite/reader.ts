import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { hasCode } from "../../lib/errors.ts";
import { inPages, type JournalReader } from "../reader.ts";
import { evidenceIn } from "../record.ts";
import { sqliteCommands } from "./commands.ts";
import { stateOf } from "./schema.ts";

/**
 * @param path of the database file
 * @param options.isBrief for a look at a journal that is probably closed: SQLite then makes no files beside it, which would
 *   belong to the reader's user
 * @throws Error when there is no such file
 */
export async function openSqliteReader(path: string, { isBrief = false } = {}): Promise<JournalReader> {
  if (!existsSync(path)) throw new Error(`${path}: there is no such journal`);
  const isClosed = isBrief && !existsSync(`${path}-wal`);
  const file = pathToFileURL(path);
  if (isClosed) file.searchParams.set("immutable", "1");
  const db = new DatabaseSync(isClosed ? file : path, { readOnly: true });
  const { page, prunable, identity, copiedUntil, refused, payees, keys, revocations, ...commands } = sqliteCommands(db);
  const reading = async <T>(read: () => T): Promise<T> => {
    try {
      return read();
    } catch (error) {
      if (hasCode(error, "journal_damaged")) throw error;
      const { message } = error as Error;
      throw new Error(`${path}: ${message.includes("locked") ? "a service has this journal open" : message}`);
    }
  };
  return {
    calls: () => inPages((after, limit) => reading(() => page(after, limit))),
    evidenceOf: (key) => reading(() => evidenceIn(commands.evidenceOf(key))),
    partsOf: (...asked) => reading(() => commands.partsOf(...asked)),
    prunable: (before) => reading(() => prunable(before)),
    schema: () => reading(() => stateOf(db)),
    identity: () => reading(identity),
    copiedUntil: () => reading(copiedUntil),
    refused: (key) => reading(() => refused(key)),
    payees: () => reading(payees),
    keys: () => reading(keys),
    revocations: () => reading(revocations),
    [Symbol.asyncDispose]: async () => db.close(),
  };
}
