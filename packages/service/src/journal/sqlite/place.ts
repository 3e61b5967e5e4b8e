import { statSync } from "node:fs";
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
  let isLost = false;
  return {
    /** To be called after each transaction of this process, which may have written the file. */
    note(): void {
      const { dev, ino } = own;
      own = look();
      isLost ||= dev !== own.dev || ino !== own.ino;
    },
    /** To be called before each transaction. @throws journal_behind, for ever, once another has written or replaced the file */
    check(): void {
      const { dev, ino, size, mtimeNs } = look();
      isLost ||= dev !== own.dev || ino !== own.ino || size !== own.size || mtimeNs !== own.mtimeNs;
      if (isLost) throw journalBehind(`${path} was replaced or written by another process`);
    },
  };
}
