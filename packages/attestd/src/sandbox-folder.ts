import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { readJsonObject } from "./files.ts";

export const DEFAULT_FOLDER = ".attestd";

/** Names in the folder of a sandbox. `sandbox.json` is written last: where it stands, so does all the rest. */
export function sandboxFolder(folder: string) {
  const path = resolve(folder);
  return {
    path,
    description: join(path, "sandbox.json"),
    keys: join(path, "keys.json"),
    settings: join(path, "service.env"),
    data: join(path, "data"),
    payments: join(path, "payments"),
    lock: join(path, "sandbox.lock"),
  };
}

export type SandboxFolder = ReturnType<typeof sandboxFolder>;

/** The sandbox of the current folder: where commands look when they are not told otherwise. */
export type StandingSandbox = { folder: SandboxFolder; serviceUrl: string };

/** @returns undefined where none stands in `./.attestd` */
export async function standingSandbox(): Promise<StandingSandbox | undefined> {
  const folder = sandboxFolder(DEFAULT_FOLDER);
  if (!existsSync(folder.description)) return undefined;
  const { serviceUrl } = await readJsonObject(folder.description);
  return typeof serviceUrl === "string" ? { folder, serviceUrl } : undefined;
}
