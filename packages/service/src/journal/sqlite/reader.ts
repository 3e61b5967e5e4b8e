import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { inPages, type JournalReader } from "../reader.ts";
import { sqliteCommands } from "./commands.ts";
import { callOf } from "./rows.ts";

/** @param path of the database file. @throws Error when there is no such file */
export async function openSqliteReader(path: string): Promise<JournalReader> {
  if (!existsSync(path)) throw new Error(`${path}: there is no such journal`);
  const db = new DatabaseSync(path, { readOnly: true });
  const { page, identity, payees, keys, revocations } = sqliteCommands(db);
  const reading = async <T>(read: () => T): Promise<T> => {
    try {
      return read();
    } catch (error) {
      const { message } = error as Error;
      throw new Error(`${path}: ${message.includes("locked") ? "a service has this journal open" : message}`);
    }
  };
  return {
    calls: () => inPages((after, limit) => reading(() => page(after, limit).map(callOf))),
    identity: () => reading(identity),
    payees: () => reading(payees),
    keys: () => reading(keys),
    revocations: () => reading(revocations),
    [Symbol.asyncDispose]: async () => db.close(),
  };
}
