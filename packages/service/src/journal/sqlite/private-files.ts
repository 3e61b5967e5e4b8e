import { chmodSync, closeSync, lstatSync, mkdirSync, openSync, readdirSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Logger } from "pino";

/** Only the account that the service runs under may read payments and bundles. */
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/**
 * Makes a journal's file and its lock when they are absent, and removes the permissions of others from every file beside
 * them whose name begins with theirs. The folder is made when its parent exists; a folder without other files is narrowed
 * too. SQLite gives `-wal` and `-shm` the mode of the file that they belong to.
 *
 * MUST be called before SQLite opens the file in this process: closing any other descriptor of it would release SQLite's
 * locks (POSIX). So an existing file is never opened here.
 *
 * @param path of the database file
 * @param log of every changed mode, with file, old and new mode; and of a folder that is left open to others
 * @returns the file's own path, without symbolic links, so that a journal has one lock
 * @throws Error of the file system
 */
export function keepPrivate(path: string, log: Pick<Logger, "warn">): string {
  unlessThere(() => mkdirSync(dirname(path), { mode: FOLDER_MODE }));
  makeFile(path);
  const file = realpathSync(path);
  const [folder, name] = [dirname(file), basename(file)];
  makeFile(`${file}.lock`);
  const inside = readdirSync(folder, { withFileTypes: true });
  const own = inside.filter((entry) => entry.isFile() && entry.name.startsWith(name));
  const narrowed = own.flatMap((entry) => narrow(join(folder, entry.name), FILE_MODE));
  if (own.length === inside.length) narrowed.push(...narrow(folder, FOLDER_MODE));
  else if (isWider(modeOf(folder), FOLDER_MODE))
    log.warn(
      { folder, mode: octal(modeOf(folder)) },
      "the journal's folder is open to others, and left so because it holds other files too: give the journal its own",
    );
  if (narrowed.length > 0) log.warn({ narrowed }, "the journal was open to others: its modes were narrowed");
  return file;
}

/** @param make that fails with EEXIST when the file or folder is there already */
function unlessThere(make: () => void): void {
  try {
    make();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** Makes a file that only its owner may read, unless there is one. */
export function makeFile(path: string): void {
  unlessThere(() => closeSync(openSync(path, "wx", FILE_MODE)));
}

type Narrowed = { file: string; from: string; to: string };

function narrow(file: string, most: number): Narrowed[] {
  const from = modeOf(file);
  if (!isWider(from, most)) return [];
  const to = from & most;
  chmodSync(file, to);
  return [{ file, from: octal(from), to: octal(to) }];
}

function isWider(mode: number, most: number): boolean {
  return (mode & ~most) !== 0;
}

/** Permission bits; 0 for a file that SQLite has removed meanwhile, and for links, which are never followed. */
function modeOf(path: string): number {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats && !stats.isSymbolicLink() ? stats.mode & 0o777 : 0;
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, "0");
}
