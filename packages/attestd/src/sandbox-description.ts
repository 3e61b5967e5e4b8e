import { join } from "node:path";
import type { Sandbox } from "@attestd/sandbox";
import { writeWhole } from "./files.ts";
import { readKeys } from "./keys-file.ts";
import { forShell, ownCommand } from "./own-command.ts";
import { DEFAULT_FOLDER, type SandboxFolder, sandboxFolder } from "./sandbox-folder.ts";
import type { Terminal } from "./terminal.ts";

/**
 * Writes `keys.json`, as the service publishes it, and then `sandbox.json`, both atomically: when `sandbox.json` exists,
 * everything that it names does too. It has the addresses of the networks; members of an absent network are absent.
 */
export async function describeSandbox(folder: SandboxFolder, networks: Sandbox, serviceUrl: string): Promise<void> {
  const response = await fetch(`${serviceUrl}/.well-known/attestor-keys.json`);
  if (!response.ok) throw new Error(`The service answered ${response.status} when asked for its key history.`);
  await writeWhole(folder.keys, await response.bytes(), 0o644);

  const current = (await readKeys(folder.keys)).trust.keys.at(-1);
  const { algodUrl, indexerUrl, baseRpcUrl, solanaRpcUrl, facilitatorUrl, facilitators, payers, sampleTransactions } =
    networks;
  const description = {
    serviceUrl,
    mcpUrl: `${serviceUrl}/mcp`,
    algodUrl,
    indexerUrl,
    baseRpcUrl,
    solanaRpcUrl,
    facilitatorUrl,
    facilitators: Object.fromEntries(
      Object.entries(facilitators).map(([rail, listed]) => [rail, listed.map(({ kind, url }) => ({ kind, url }))]),
    ),
    payers,
    sampleTransactions,
    attestor: {
      algorandAddress: current?.algorandAddress,
      kid: current?.kid,
      pqPublicKey: current?.pqPublicKey,
    },
  };
  await writeWhole(folder.description, `${JSON.stringify(description, undefined, 2)}\n`, 0o600);
}

/** Prints the sandbox's addresses, and commands that buy and check one attestation, complete for pasting. */
export async function printBanner(out: Terminal, networks: Sandbox, serviceUrl: string, dir: string): Promise<void> {
  const { sampleTransactions } = networks;
  const elsewhere = sandboxFolder(dir).path !== sandboxFolder(DEFAULT_FOLDER).path;
  const description = join(dir, "sandbox.json");
  const keys = forShell(join(dir, "keys.json"));
  const where = elsewhere ? ` --service ${serviceUrl} --wallet ${forShell(description)} --keys ${keys}` : "";

  out.line("attestd sandbox   no real money, nothing leaves this machine");
  if (await exists(`${serviceUrl}/`)) out.line(`  page      ${serviceUrl}`);
  out.line(`  API       ${serviceUrl}/openapi.json`);
  out.line(`  wallets   funded, in ${description}`);
  const command = ownCommand();
  out.line("Buy one attestation, from this folder, in another terminal:");
  out.line(`  ${command} attest ${sampleTransactions.base ?? sampleTransactions.algorand}${where}`);
  out.line(`Then: ${command} verify FILE --keys ${keys}`);
}

async function exists(url: string): Promise<boolean> {
  const response = await fetch(url);
  await response.body?.cancel();
  return response.ok;
}
