import { chmodSync, existsSync, lstatSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { EXIT, Failure } from "./failure.ts";

const SQLITE_BUSY = 5;
/** Whoever asks whether a file is locked holds it for a moment. */
const PATIENCE_MS = 250;

/**
 * Locks a file until disposal, or until this process ends in any way: SQLite's lock on an otherwise empty file. A file
 * with a process id would survive a `kill -9`, and its id could later be that of another process. Only this user can open it,
 * and so nobody else can hold it.
 *
 * @throws Failure `usage`, of the sentences `what` and `remedy`, when another process has the file, or it is no such file
 */
export function lockFile(path: string, what: string, remedy: string): Disposable {
  const there = lstatSync(path, { throwIfNoEntry: false });
  // SQLite would wait for a pipe, and follow a link.
  if (there !== undefined && !(there.isFile() && there.size === 0))
    throw new Failure(EXIT.usage, `${path} is no lock`, ["Another program has made it. Move it away."]);
  const database = new DatabaseSync(path, { timeout: PATIENCE_MS });
  try {
    chmodSync(path, 0o600);
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

/**
 * Whether a live process of this user has locked a file by `lockFile`. A file that came with a folder, copied or unpacked, is
 * locked by no process; one that others can open may be locked by them.
 */
export function isLockedByThisUser(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found?.isFile() || found.size > 0 || found.nlink > 1) return false;
  if (found.uid !== process.getuid?.() || (found.mode & 0o077) !== 0) return false;
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { readOnly: true });
    database.exec("SELECT 1 FROM sqlite_schema");
    return false;
  } catch (error) {
    return (error as { errcode?: number }).errcode === SQLITE_BUSY;
  } finally {
    database?.close();
  }
}
