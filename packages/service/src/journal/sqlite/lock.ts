import { DatabaseSync } from "node:sqlite";

/**
 * Locks a journal for this process: a second one is refused, so that no two run the same calls. The lock is a file of its own,
 * so that an auditor may read the journal meanwhile, and that a journal which was moved away stays locked under its name.
 *
 * @param path of the database file, without symbolic links
 * @returns MUST stay referenced: a DatabaseSync that is collected releases its lock
 * @throws Error with "locked" when another process has it
 */
export function lockJournal(path: string): DatabaseSync {
  const file = `${path}.lock`;
  const lock = new DatabaseSync(file);
  lock.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
  return lock;
}
