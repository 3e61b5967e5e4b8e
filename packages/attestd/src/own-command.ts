import { existsSync } from "node:fs";
import { join, relative } from "node:path";

/** Defined by the build of the release archive, and nowhere else. */
declare const RELEASE_ARCHIVE: boolean | undefined;

/** Whether this is the command of a release archive. */
export const IS_RELEASED = typeof RELEASE_ARCHIVE !== "undefined";

/**
 * How a person runs this command from the current folder, for a shell: the command of the release archive by its path; in a
 * clone, where npm has installed it, `npx attestd`. Elsewhere npx would fetch whatever package of that name a registry has.
 */
export function ownCommand(): string {
  if (IS_RELEASED) return forShell(shortest(join(import.meta.dirname, "../bin/attestd")));
  return existsSync(join("node_modules", ".bin", "attestd")) ? "npx attestd" : "attestd";
}

/** A word of a shell's command line. */
export function forShell(word: string): string {
  return /^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function shortest(path: string): string {
  const here = relative("", path);
  const named = here.includes("/") ? here : `./${here}`;
  return named.length < path.length ? named : path;
}
