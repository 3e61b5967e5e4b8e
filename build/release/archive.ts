import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { create } from "tar";

/** What an archive has, by path in its folder. */
export type Contents = ReadonlyMap<string, Packed>;
export type Packed = { bytes: Uint8Array | string; executable?: boolean };

/** The one time of every file: an archive says nothing of when it was built, as npm's packages do not. */
const MTIME = new Date("1985-10-26T08:15:00Z");

/**
 * Writes `NAME.tar.gz`, the same bytes for the same contents: files in the order of their names, of nobody, of one time.
 *
 * @param out existing folder; its folder `staging` is made and removed
 * @param top the folder in the archive
 * @returns the line of `sha256sum` for the archive
 */
export async function writeArchive(out: string, name: string, top: string, contents: Contents): Promise<string> {
  const staging = join(out, "staging");
  rmSync(staging, { recursive: true, force: true });
  const paths = [...contents.keys()].map((path) => `${top}/${path}`).sort();
  for (const [path, { bytes, executable }] of contents) {
    const file = join(staging, top, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, bytes);
    // Not by `writeFileSync`, which the umask would change.
    chmodSync(file, executable ? 0o755 : 0o644);
  }
  const file = join(out, `${name}.tar.gz`);
  await create({ file, cwd: staging, gzip: { level: 9 }, portable: true, mtime: MTIME, noDirRecurse: true }, paths);
  rmSync(staging, { recursive: true });
  return `${createHash("sha256").update(readFileSync(file)).digest("hex")}  ${name}.tar.gz\n`;
}
