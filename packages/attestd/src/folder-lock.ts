import { existsSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

/**
 * Takes a lock that the operating system frees when the process ends, however it ends: SQLite's lock on an otherwise
 * empty file. A file with a process id would outlive a `kill -9`, and its number would come to name another process.
 *
 * @returns undefined when another process holds it
 */
export function lockFile(path: string): Disposable | undefined {
  const database = new DatabaseSync(path);
  try {
    database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return undefined;
    throw error;
  }
  // The holder removes the file when it is done. One that was locked in between is no longer the file of that name.
  if (!existsSync(path)) {
    database.close();
    return lockFile(path);
  }
  return {
    [Symbol.dispose]() {
      rmSync(path, { force: true });
      database.close();
    },
  };
}

const SQLITE_BUSY = 5;
