import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { lockFile } from "../../packages/attestd/src/files/folder-lock.ts";

/**
 * Writes the files of a sandbox to `.attestd` in a folder, and locks it as a sandbox that runs there.
 * @returns ends it; its files stay
 */
export async function runningSandbox(folder: string, files: Record<string, object>): Promise<Disposable> {
  const here = join(folder, ".attestd");
  await mkdir(here, { recursive: true });
  for (const [name, value] of Object.entries(files)) await writeFile(join(here, name), JSON.stringify(value));
  return lockFile(join(here, "sandbox.lock"), "a sandbox runs there", "Stop it.");
}
