import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Sandbox } from "@attestd/sandbox";
import { type Table, tomlOf } from "@attestd/service/settings";
import { writeAtomically } from "../../files/files.ts";
import type { SandboxFolder } from "../../trust/sandbox-folder.ts";

/** The settings of a sandbox's service, and the secrets that they name, by file. */
export type SandboxSettings = { tables: Table; secrets: ReadonlyMap<string, string> };

/**
 * Makes the service's settings in a sandbox, as an operator would write them, with a new key of the attestor unless there is one.
 *
 * @param address where the service listens; port 0 picks a free one
 * @param before the settings at the last start of the same sandbox: what was added by hand is kept
 */
export function newServiceSettings(
  networks: Sandbox,
  folder: SandboxFolder,
  address: { host: string; port: number },
  before: Table = {},
): SandboxSettings {
  const { payTo, facilitators } = networks;
  const secrets = new Map<string, string>();
  const secret = (name: string, value: string) => {
    const path = join(folder.data, name);
    secrets.set(path, value);
    return `file:${path}`;
  };
  const chains = tableIn(before, "chains");
  const rails = tableIn(before, "rails");
  const railOf = (name: keyof typeof payTo) =>
    payTo[name] === undefined ? {} : { [name]: { ...tableIn(rails, name), pay_to: payTo[name] } };
  const rpcOf = (name: string, url: string | undefined) =>
    url === undefined ? {} : { [name]: { ...tableIn(chains, name), rpc: [url] } };
  const { provider_quorum: _, ...kept } = before;
  return {
    secrets,
    tables: {
      ...kept,
      ...address,
      checkpoint_table: folder.checkpoints,
      ...(networks.sourceChains.length > 0 && { sandbox_source_chains: networks.sourceChains }),
      journal: { ...tableIn(before, "journal"), url: `sqlite:${folder.journal}` },
      attestor: {
        mnemonic: secret("attestor.mnemonic", networks.attestor.mnemonic),
        pq_seed: secret("attestor.pq-seed", seedIn(folder) ?? randomBytes(32).toString("hex")),
      },
      chains: {
        algorand: {
          algod: [networks.algodUrl],
          indexer: [networks.indexerUrl],
          genesis_hash: networks.genesisHash,
        },
        ...rpcOf("base", networks.baseRpcUrl),
        ...rpcOf("solana", networks.solanaRpcUrl),
      },
      rails: { ...railOf("algorand"), ...railOf("base"), ...railOf("solana") },
      facilitators: facilitatorTables(facilitators, secret),
    },
  };
}

/** The tables of facilitators, one each, in an order that is every rail's own. */
export function facilitatorTables(
  facilitators: Sandbox["facilitators"],
  secret: (name: string, value: string) => string,
): Table[] {
  const lists = Object.entries(facilitators);
  const tables: Table[] = [];
  const isDone = (url: string) => tables.some((table) => table.url === url);
  for (;;) {
    const left = lists.map(([, listed = []]) => listed.filter(({ url }) => !isDone(url)));
    const heads = left.flatMap(([head]) => (head ? [head] : []));
    // One that another rail prefers others to waits for those.
    const next =
      heads.find(({ url }) => left.every((list) => list.slice(1).every((one) => one.url !== url))) ?? heads[0];
    if (!next) return tables;
    const { url, kind, credentials } = next;
    const [key] = credentials;
    const rails = lists.flatMap(([rail, listed]) => (listed?.some((one) => one.url === url) ? [rail] : []));
    const name = `facilitator-${tables.length + 1}.secret`;
    tables.push({ url, rails, ...(key && { kind, key_id: key.keyId, secret: secret(name, key.secret) }) });
  }
}

/** The attestor's seed of an earlier start. @returns undefined without one */
export function seedIn({ data }: SandboxFolder): string | undefined {
  const path = join(data, "attestor.pq-seed");
  return existsSync(path) ? readFileSync(path, "utf8").trim() : undefined;
}

function tableIn(tables: Table, name: string): Table {
  const table = tables[name];
  return typeof table === "object" && table !== null ? (table as Table) : {};
}

/** Writes the settings for `attestd serve --settings`, and the secrets that they name: mode 0600. */
export async function writeSettings(folder: SandboxFolder, { tables, secrets }: SandboxSettings): Promise<void> {
  for (const [path, value] of secrets) await writeAtomically(path, `${value}\n`, 0o600);
  await writeAtomically(folder.settings, tomlOf(tables), 0o600);
}
