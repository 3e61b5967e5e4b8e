import { execFile } from "node:child_process";
import { mkdtemp, rmdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** A file system of a test's own. */
export type SmallDisk = AsyncDisposable & { path: string };

/**
 * Mounts a file system in memory that has few bytes; only the superuser of Linux may.
 *
 * @param mib its size
 * @returns why there is none, where it cannot be mounted
 */
export async function mountSmallDisk(mib: number): Promise<SmallDisk | { reason: string }> {
  const path = await mkdtemp(join(tmpdir(), "attestd-disk-"));
  try {
    await run("mount", ["-t", "tmpfs", "-o", `size=${mib}m,mode=0700`, "tmpfs", path]);
  } catch (error) {
    await rmdir(path);
    return { reason: `no file system can be mounted here: ${(error as Error).message.split("\n")[0]}` };
  }
  return {
    path,
    async [Symbol.asyncDispose]() {
      await run("umount", [path]);
      await rmdir(path);
    },
  };
}
