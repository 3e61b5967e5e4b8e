import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { MNEMONIC, offlineSettings } from "../../packages/service/test/fakes/offline-deployment.ts";
import { merged, settingsFileOf } from "../../packages/service/test/settings.ts";
import { keysOf, kmsEnvironment, kmsSettings, PROVIDERS, startKmsProcess } from "../crash/kms-server.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { ARCHIVES } from "./files.ts";

/** Has the packed doctor sign a probe with keys in each KMS, by the provider's client that is in the archive. */
export async function signsByKms(unpacked: string): Promise<string> {
  await using folder = await temporaryFolder();
  const { tables } = offlineSettings(`sqlite:${join(folder.path, "journal.db")}`);
  const said: string[] = [];
  for (const provider of PROVIDERS) {
    const kms = await startKmsProcess(Object.values(keysOf(provider, MNEMONIC)));
    const file = settingsFileOf(merged(tables, { attestor: kmsSettings(provider, kms.url) }));
    const env = { PATH: process.env.PATH, ...kmsEnvironment(kms.url) };
    // It fails: no node answers.
    const { stdout, stderr } = spawnSync(join(unpacked, ARCHIVES.top, "bin/attestd"), ["doctor", "--settings", file], {
      cwd: folder.path,
      env,
      encoding: "utf8",
    });
    await kms.kill();
    const line = stdout.match(/attestor.signer: .* signed a probe with each key/)?.[0];
    if (line === undefined) throw new Error(`${provider}:\n${stdout}${stderr}`);
    said.push(line.replace(/^attestor.signer: | signed.*$/g, ""));
  }
  return said.join(", ");
}
