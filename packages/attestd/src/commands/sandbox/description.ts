import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import type { Sandbox } from "@attestd/sandbox";
import { writeAtomically } from "../../files/files.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { readKeys } from "../../trust/keys.ts";
import { DEFAULT_FOLDER, type SandboxFolder, sandboxFolder } from "../../trust/sandbox-folder.ts";

/**
 * Writes `keys.json`, as the service publishes it, and then `sandbox.json`, both atomically: when `sandbox.json` exists, so does
 * everything that it names. It has the addresses of the networks; for a network that does not run it has no members.
 */
export async function describeSandbox(folder: SandboxFolder, networks: Sandbox, serviceUrl: string): Promise<void> {
  const response = await fetch(`${serviceUrl}/.well-known/attestor-keys.json`);
  if (!response.ok) throw new Error(`The service answered ${response.status} when asked for its key history.`);
  await writeAtomically(folder.keys, await response.bytes(), 0o644);

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
  await writeAtomically(folder.description, `${JSON.stringify(description, undefined, 2)}\n`, 0o600);
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

/** Defined by the build of the release archive, and nowhere else. */
declare const RELEASE_ARCHIVE: boolean | undefined;

/** Whether this command runs from a release archive. */
export const IS_RELEASED = typeof RELEASE_ARCHIVE !== "undefined";

/**
 * How a person runs this command in a shell from the current folder: from a release archive by its path; in a clone, where npm
 * has installed it, as `npx attestd`. Elsewhere npx would fetch whatever package of that name a registry has.
 */
export function ownCommand(): string {
  if (IS_RELEASED) return forShell(shortest(join(import.meta.dirname, "../bin/attestd")));
  return existsSync(join("node_modules", ".bin", "attestd")) ? "npx attestd" : "attestd";
}

/** Quotes a word for a shell. */
export function forShell(word: string): string {
  return /^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function shortest(path: string): string {
  const here = relative("", path);
  const named = here.includes("/") ? here : `./${here}`;
  return named.length < path.length ? named : path;
}
