import { execFileSync } from "node:child_process";
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../build/release/paths.ts";
import { type Effort, judge, type Row } from "./measure.ts";

const MB = 1024 * 1024;
/** Files of the archive; judged here because a ratio of files means nothing. */
const MAX_FILES = 5_000;

/**
 * What runs `serve`: the release archive of this platform, made anew and unpacked into an empty folder. Its size beside that of
 * the Node in it.
 */
export async function run(_effort: Effort): Promise<Row[]> {
  const options = { cwd: ROOT, stdio: "ignore" } as const;
  execFileSync(process.execPath, ["build/release/main.ts"], options);
  const dist = join(ROOT, "dist");
  const name = (await readdir(dist)).find((file) => /^attestd-\d.*\.tar\.gz$/.test(file)) ?? "";
  const archive = join(dist, name);
  const folder = await mkdtemp(join(tmpdir(), "attestd-bench-"));
  try {
    execFileSync("tar", ["-xzf", archive, "-C", folder], options);
    const files = await readdir(folder, { recursive: true, withFileTypes: true });
    const sizes = await Promise.all(
      files
        .filter((file) => file.isFile())
        .map(async (file) => ({ file, size: (await stat(join(file.parentPath, file.name))).size })),
    );
    if (sizes.length > MAX_FILES) throw new Error(`the archive has ${sizes.length} files`);
    const all = sizes.reduce((sum, { size }) => sum + size, 0) / MB;
    const node = sizes.find(({ file }) => file.name === "node")?.size ?? Number.NaN;
    return [judge("install", "MB", [{ ours: all, yardstick: node / MB }], "share", { ours: 126 })];
  } finally {
    await rm(folder, { recursive: true });
  }
}
