import { existsSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

/**
 * Takes a lock that the operating system releases however the process ends: SQLite's lock on an otherwise empty file. A
 * file with a process id would survive a `kill -9`, and its id could later be that of another process.
 *
 * @returns undefined when another process has it
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
  // The owner removes the file when it is done: a file that was locked just then no longer has that name.
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
