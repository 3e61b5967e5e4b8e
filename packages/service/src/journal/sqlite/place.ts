import { renameSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { journalBehind } from "../../calls/copied.ts";

/**
 * Watches that the file at a path is the one that this process writes: a file that was put in its place, by a rename or over it,
 * would have what is committed from now on nowhere, or in parts. The process alone writes the file, so that any other inode,
 * length or time of change than after its own last transaction is another's doing.
 *
 * The file is never opened for that: closing a descriptor of it would release SQLite's locks (POSIX).
 */
export function watchPlace(path: string) {
  const look = () => {
    const { dev, ino, size, mtimeNs } = statSync(path, { bigint: true, throwIfNoEntry: false }) ?? {};
    return { dev, ino, size, mtimeNs };
  };
  let own = look();
  const wal = `${path}-wal`;
  const walNow = () => statSync(wal, { bigint: true, throwIfNoEntry: false })?.ino;
  /** SQLite keeps one WAL file from the first transaction on. */
  let ownWal: bigint | undefined;
  let isLost = false;
  /** Looks whether another has written or replaced the file since the last transaction. */
  function lost(): boolean {
    const { dev, ino, size, mtimeNs } = look();
    isLost ||= dev !== own.dev || ino !== own.ino || size !== own.size || mtimeNs !== own.mtimeNs;
    return isLost;
  }

  return {
    /** To be called after each transaction of this process, which may have written the file. */
    note(): void {
      const { dev, ino } = own;
      own = look();
      isLost ||= dev !== own.dev || ino !== own.ino;
      if (!isLost) ownWal ??= walNow();
    },
    /**
     * Closes the database. What its WAL holds belongs to the file that was there before: SQLite would write it into the one that was
     * put there, now or at the next start. So it is set aside, as `….sqlite-wal.lost`.
     */
    close(db: DatabaseSync): void {
      if (!lost()) {
        db.close();
        return;
      }
      // The last connection that closes writes the WAL into the file, and one that only reads does not.
      using opened = new DisposableStack();
      try {
        opened.use(new DatabaseSync(path, { readOnly: true })).exec("SELECT count(*) FROM sqlite_schema");
      } catch {
        // There is no file any more, or no database.
      }
      db.close();
      if (ownWal !== undefined && ownWal === walNow()) renameSync(wal, `${wal}.lost`);
    },
    /** To be called before each transaction. @throws journal_behind, for ever, once another has written or replaced the file */
    check(): void {
      if (lost()) throw journalBehind(`${path} was replaced or written by another process`);
    },
  };
}
