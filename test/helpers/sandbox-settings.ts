import { mkdir } from "node:fs/promises";
import type { Sandbox } from "@attestd/sandbox";
import { newServiceSettings, writeSettings } from "../../packages/attestd/src/commands/sandbox/settings.ts";
import type { SandboxFolder } from "../../packages/attestd/src/trust/sandbox-folder.ts";
import { merged, type Settings, type Table } from "../../packages/service/test/settings.ts";

/** Writes the settings of a service on a sandbox into a folder, as `attestd sandbox` does. @param over replaces some of them */
export async function sandboxSettings(sandbox: Sandbox, folder: SandboxFolder, over: Table = {}): Promise<Settings> {
  const made = newServiceSettings(sandbox, folder, { host: "127.0.0.1", port: 0 });
  const tables = merged(made.tables, over);
  await mkdir(folder.data, { recursive: true, mode: 0o700 });
  await writeSettings(folder, { ...made, tables });
  return { tables, folder: folder.path, variables: {} };
}
