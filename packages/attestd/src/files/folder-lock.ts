import { chmodSync, existsSync, lstatSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { EXIT, Failure } from "../failure.ts";

const SQLITE_BUSY = 5;
/** A process that asks whether a file is locked holds the lock for a moment. */
const PATIENCE_MS = 250;

/**
 * Locks a file until disposal, or until this process ends in any way. It is SQLite's lock on an otherwise empty file: a file
 * with a process id would survive a `kill -9`, and another process could have that id later. Only this user can open the file,
 * and so nobody else can hold the lock.
 *
 * @param what the message if another process holds the lock. @param remedy the line after it
 * @throws Failure `usage` if another process holds the lock, or the file is not a lock
 */
export function lockFile(path: string, what: string, remedy: string): Disposable {
  const there = lstatSync(path, { throwIfNoEntry: false });
  // SQLite would wait for a pipe, and follow a link.
  if (there !== undefined && !(there.isFile() && there.size === 0))
    throw new Failure(EXIT.usage, `${path} is not a lock`, ["Another program has made it. Move it away."]);
  const database = new DatabaseSync(path, { timeout: PATIENCE_MS });
  try {
    chmodSync(path, 0o600);
    database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw error;
    throw new Failure(EXIT.usage, what, [remedy], error);
  }
  // The owner removes the file when it is done. If it did so just now, this lock is on a file that no longer has the name.
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
 * Whether a live process of this user has locked a file by `lockFile`. No process has locked a file that came with a copied or
 * unpacked folder. A file that others can open does not count: they may have locked it.
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
