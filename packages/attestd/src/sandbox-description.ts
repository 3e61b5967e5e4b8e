import type { Sandbox } from "@attestd/sandbox";
import { writeWhole } from "./files.ts";
import type { SandboxFolder } from "./sandbox-folder.ts";

/** The addresses of a sandbox; members of an absent network are absent. */
export type SandboxDescription = ReturnType<typeof descriptionOf>;

type AttestorKey = { algorandAddress: string; kid: string; pqPublicKey: string };

/**
 * Writes `keys.json`, as the service publishes it, and then `sandbox.json`, both atomically: when `sandbox.json` exists,
 * everything that it names does too.
 */
export async function describeSandbox(
  folder: SandboxFolder,
  networks: Sandbox,
  serviceUrl: string,
): Promise<SandboxDescription> {
  const response = await fetch(`${serviceUrl}/.well-known/attestor-keys.json`);
  if (!response.ok) throw new Error(`The service answered ${response.status} when asked for its key history.`);
  const history = await response.text();
  await writeWhole(folder.keys, history, 0o644);

  const { keys } = JSON.parse(history) as { keys: AttestorKey[] };
  const current = keys.at(-1);
  if (!current) throw new Error("The service's key history is empty.");
  const description = descriptionOf(networks, serviceUrl, current);
  await writeWhole(folder.description, `${JSON.stringify(description, undefined, 2)}\n`, 0o600);
  return description;
}

function descriptionOf(networks: Sandbox, serviceUrl: string, key: AttestorKey) {
  const { algodUrl, indexerUrl, baseRpcUrl, solanaRpcUrl, facilitatorUrl, payers, sampleTransactions } = networks;
  return {
    serviceUrl,
    mcpUrl: `${serviceUrl}/mcp`,
    algodUrl,
    indexerUrl,
    baseRpcUrl,
    solanaRpcUrl,
    facilitatorUrl,
    payers,
    sampleTransactions,
    attestor: { algorandAddress: key.algorandAddress, kid: key.kid, pqPublicKey: key.pqPublicKey },
  };
}
