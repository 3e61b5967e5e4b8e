import { existsSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

const SQLITE_BUSY = 5;

/**
 * Locks a file until disposal, or until this process ends in any way: SQLite's lock on an otherwise empty file. A file
 * with a process id would survive a `kill -9`, and its id could later be that of another process.
 *
 * @param taken makes the error for a file that another process has
 */
export function lockFile(path: string, taken: (cause: unknown) => Error): Disposable {
  const database = new DatabaseSync(path);
  try {
    database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw error;
    throw taken(error);
  }
  // The owner removes the file when it is done: a file that was locked just then no longer has that name.
  if (!existsSync(path)) {
    database.close();
    return lockFile(path, taken);
  }
  return {
    [Symbol.dispose]() {
      rmSync(path, { force: true });
      database.close();
    },
  };
}
