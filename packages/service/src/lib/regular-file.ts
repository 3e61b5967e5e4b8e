import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, type Stats, statSync } from "node:fs";

/** Limits for reading a file. */
export type FileOptions = {
  /** The size limit, in bytes. */
  maxBytes: number;
  /**
   * Whether the program found the file by itself, next to another or in a folder, instead of being given its path. A
   * symbolic link is then not followed.
   */
  isFound?: boolean;
};

/** The refusal to read a file; the message is a sentence. */
export class FileRefusal extends Error {
  readonly code: "NOT_A_FILE" | "TOO_LARGE" | "TOO_SLOW";
  /** For a file that is too large: its size in bytes, or a lower bound. */
  readonly bytes: number;

  constructor(code: FileRefusal["code"], message: string, bytes = 0) {
    super(message);
    this.name = "FileRefusal";
    this.code = code;
    this.bytes = bytes;
  }
}

const DEADLINE_MS = 10_000;
const CHUNK_BYTES = 2 ** 20;

/**
 * Reads a regular file. Whoever made the folder may have put anything there: a named pipe or a device, which would
 * never end, is not even opened.
 * @returns the bytes, and when the file was written, in milliseconds of Unix time
 * @throws FileRefusal if it is not a regular file, is too large, or takes more than 10 s; the system's error otherwise
 */
export function readRegularFile(path: string, options: FileOptions): { bytes: Buffer; writtenMs: number } {
  const { maxBytes } = options;
  const { fd, stats } = openRegularFile(path, options);
  try {
    if (stats.size > maxBytes) throw tooLarge(maxBytes, stats.size);
    const ends = performance.now() + DEADLINE_MS;
    const chunks: Buffer[] = [];
    let size = 0;
    for (;;) {
      // One byte more than allowed, because the file may grow, and the kernel's own files have a size of 0.
      const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, maxBytes + 1 - size));
      const read = readSync(fd, chunk);
      if (read === 0) return { bytes: Buffer.concat(chunks), writtenMs: stats.mtimeMs };
      chunks.push(chunk.subarray(0, read));
      size += read;
      if (size > maxBytes) throw tooLarge(maxBytes, size);
      if (performance.now() > ends) throw new FileRefusal("TOO_SLOW", `It can't be read in ${DEADLINE_MS / 1000} s.`);
    }
  } finally {
    closeSync(fd);
  }
}

/** Opens a regular file for reading; the caller closes it. @throws as `readRegularFile` */
export function openRegularFile(path: string, { isFound = false }: Pick<FileOptions, "isFound"> = {}) {
  // Checked before opening, because opening alone would move a tape.
  requireRegular(isFound ? lstatSync(path) : statSync(path));
  // Does not wait for something that has replaced the file in the meantime.
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | (isFound ? constants.O_NOFOLLOW : 0);
  const fd = openSync(path, flags);
  try {
    const stats = fstatSync(fd);
    requireRegular(stats);
    return { fd, stats };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

function requireRegular(stats: Stats): void {
  if (stats.isFile()) return;
  const what = KINDS.find(([is]) => is(stats))?.[1] ?? "It is no file.";
  throw new FileRefusal("NOT_A_FILE", what);
}

const KINDS: readonly [is: (stats: Stats) => boolean, sentence: string][] = [
  [(stats) => stats.isDirectory(), "It is a folder."],
  [(stats) => stats.isSymbolicLink(), "It is a link, which is not followed here."],
  [(stats) => stats.isFIFO(), "It is a named pipe, not a file."],
  [(stats) => stats.isSocket(), "It is a socket, not a file."],
  [(stats) => stats.isCharacterDevice() || stats.isBlockDevice(), "It is a device, not a file."],
];

function tooLarge(maxBytes: number, bytes: number): FileRefusal {
  return new FileRefusal("TOO_LARGE", `It has more than ${maxBytes} bytes.`, bytes);
}
