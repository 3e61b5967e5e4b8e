import { existsSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { EXIT, Failure } from "./failure.ts";

const SQLITE_BUSY = 5;

/**
 * Locks a file until disposal, or until this process ends in any way: SQLite's lock on an otherwise empty file. A file
 * with a process id would survive a `kill -9`, and its id could later be that of another process.
 *
 * @throws Failure `usage`, of the sentences `what` and `remedy`, when another process has the file
 */
export function lockFile(path: string, what: string, remedy: string): Disposable {
  const database = new DatabaseSync(path);
  try {
    database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw error;
    throw new Failure(EXIT.usage, what, [remedy], error);
  }
  // The owner removes the file when it is done: a file that was locked just then no longer has that name.
  if (!existsSync(path)) {
    database.close();
    return lockFile(path, what, remedy);
  }
  return {
    [Symbol.dispose]() {
      rmSync(path, { force: true });
      database.close();
    },
  };
}
