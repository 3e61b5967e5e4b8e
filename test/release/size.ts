import { existsSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ARCHIVES, DIST, ROOT, run } from "./files.ts";

type Size = { bytes: number; files: number };

const MAX_BYTES = 150e6;
const MAX_FILES = 300;

/**
 * What the command's archive takes, unpacked, and the packages that `npm ci --omit=dev` would install here, without our own and
 * without the page. @throws Error when the former is more than it may be
 */
export function sizes(): { ours: number; packed: Size; sources: Size } {
  const listed = run("tar", ["-tvzf", join(DIST, ARCHIVES[0] as string)])
    .split("\n")
    .filter((line) => line.startsWith("-"))
    .map((line) => ({ bytes: Number(line.split(/\s+/)[2]), path: line.split(/\s+/).at(-1) as string }));
  const node = listed.find(({ path }) => path.endsWith("/lib/node"))?.bytes as number;
  const bytes = listed.reduce((sum, file) => sum + file.bytes, 0);
  const files = listed.length;
  if (bytes > MAX_BYTES || files > MAX_FILES) throw new Error(`${files} files of ${bytes} bytes`);
  return { ours: bytes - node, packed: { bytes, files }, sources: installedSize() };
}

/** By the files that are here of packages that are not for development alone. */
function installedSize(): Size {
  const size = { bytes: 0, files: 0 };
  const lock = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")) as {
    packages: Record<string, { dev?: boolean; link?: boolean }>;
  };
  for (const [path, { dev = false, link = false }] of Object.entries(lock.packages))
    if (path.includes("node_modules/") && !dev && !link) add(join(ROOT, path), size);
  return size;
}

/** Adds what is in a package's folder, but not the packages in it. */
function add(folder: string, size: Size): void {
  // Of another platform: npm did not install it.
  if (!existsSync(folder)) return;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && entry.name !== "node_modules") add(path, size);
    if (!entry.isFile()) continue;
    size.bytes += lstatSync(path).size;
    size.files += 1;
  }
}
