import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** Reads the files of a folder whose names have an ending, sorted by path; none when there is no such folder. */
export async function readRecordingFiles(folder: string, ending: string): Promise<[path: string, bytes: Buffer][]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const paths = names.filter((name) => name.endsWith(ending)).sort();
  return Promise.all(
    paths.map(async (name): Promise<[string, Buffer]> => [join(folder, name), await readFile(join(folder, name))]),
  );
}

/** Prefixes the message of an error that `read` throws with the name of what it reads. */
export function named<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new Error(`${name}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}
