import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * Reads a folder's files with an ending, sorted by name.
 * @param replayDir undefined for no recordings
 * @param folder in `replayDir`; when it does not exist, there are none
 */
export async function readRecordingFiles(
  replayDir: string | undefined,
  folder: string,
  ending: string,
): Promise<[path: string, bytes: Buffer][]> {
  if (replayDir === undefined) return [];
  const names = await readdir(join(replayDir, folder)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const paths = names.filter((name) => name.endsWith(ending)).sort();
  return Array.fromAsync(paths, async (name) => {
    const path = join(replayDir, folder, name);
    return [path, await readFile(path)];
  });
}

/** Prefixes the message of an error that `read` throws with the name of what it reads. */
export function named<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new Error(`${name}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}
