import { join } from "node:path";
import type { SandboxDescription } from "./sandbox-description.ts";
import { DEFAULT_FOLDER, sandboxFolder } from "./sandbox-folder.ts";
import type { Terminal } from "./terminal.ts";

/** Prints what the sandbox has, and commands that buy and check one attestation, complete for pasting. */
export async function printBanner(out: Terminal, sandbox: SandboxDescription, dir: string): Promise<void> {
  const { serviceUrl, sampleTransactions } = sandbox;
  const elsewhere = sandboxFolder(dir).path !== sandboxFolder(DEFAULT_FOLDER).path;
  const description = join(dir, "sandbox.json");
  const keys = join(dir, "keys.json");
  const where = elsewhere ? ` --service ${serviceUrl} --wallet ${description} --keys ${keys}` : "";

  out.line("attestd sandbox   no real money, nothing leaves this machine");
  if (await exists(`${serviceUrl}/`)) out.line(`  page      ${serviceUrl}`);
  out.line(`  API       ${serviceUrl}/openapi.json`);
  out.line(`  wallets   funded, in ${description}`);
  out.line("Buy one attestation:");
  out.line(`  npx attestd attest ${sampleTransactions.base ?? sampleTransactions.algorand}${where}`);
  out.line(`Then: npx attestd verify FILE --keys ${keys}`);
}

async function exists(url: string): Promise<boolean> {
  const response = await fetch(url);
  await response.body?.cancel();
  return response.ok;
}
