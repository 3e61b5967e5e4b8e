import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { algorandCaip2 } from "@attestd/proof/algorand";
import { fromBase64 } from "@attestd/proof/encoding";
import type { z } from "zod";
import { compare } from "./contradictions.ts";
import { type FacilitatorSettings, readFacilitators } from "./facilitators.ts";
import { SettingFaults } from "./faults.ts";
import type { OwnTable, OwnTables } from "./own-tables.ts";
import { type Read, readSettings } from "./read.ts";
import { isTable } from "./references.ts";
import { settingsSchema } from "./settings.ts";
import type { Settings, Table } from "./settings-file.ts";
import { type KeySettings, readSigners } from "./signers.ts";
import { readTracing } from "./tracing.ts";

export { configInvalid } from "./faults.ts";
export type { UpstreamNode } from "./formats.ts";
export type { Settings } from "./settings-file.ts";

/** Every setting, as `readConfig` returns it. */
export type Config = ReturnType<typeof readConfig>;

/** A rail that is enabled. */
export type RailSettings = {
  payTo: string;
  /** At least one, in order of preference. */
  facilitators: FacilitatorSettings[];
  /** micro-USDC a call. */
  price: bigint;
};

/**
 * Reads every setting, once.
 *
 * @param options.sandbox whether the process was started with `--sandbox`
 * @param options.own the tables of rails and chains: those of their registries
 * @param options.signs whether nothing can be done without the attestor's keys; else one that is not there is a fault only for
 *   who opens it
 * @throws config_invalid with every setting that is missing, wrong, unknown or contradictory
 */
export function readConfig(
  settings: Settings,
  { sandbox, own, signs = false }: { sandbox: boolean; own: OwnTables; signs?: boolean },
) {
  const faults = new SettingFaults();
  const keyFaults = signs ? faults : new SettingFaults();
  const { folder, variables } = settings;
  const given = withPort(settings);
  const schema = settingsSchema(own);
  const unread = (key: string) => (key.startsWith("attestor.") ? keyFaults : faults);
  const read = readSettings(schema, { ...settings, tables: given }, { faults, unread });
  const attestor = readSigners(read.attestor, tableIn(given, "attestor"), faults, keyFaults);
  compare(read, sandbox, faults);
  const rails = readRails(own, read, given, faults);
  const tracing = readTracing(variables, read.trace_hosts ?? [], faults);
  faults.throwAll();
  // Without a fault, nothing of it is missing.
  const s = read as z.output<typeof schema>;
  const { algorand } = s.chains;

  return {
    host: s.host,
    port: s.port,
    /** Origin of every absolute link; absent: the address listened on. */
    publicUrl: s.public_url,
    /** The listener for the operator. Absent: none. */
    admin: s.admin.port === undefined ? undefined : { host: s.admin.host, port: s.admin.port },
    mcpUrl: s.mcp_url,
    /** URI of the contact for this deployment (security.txt). */
    contact: s.contact,
    trustProxy: s.trust_proxy,
    database: databaseOf(s.journal.url, folder),
    sandbox,
    /** The ledger: its genesis hash in base64, its CAIP-2 name, and its nodes. */
    algorand: {
      genesisHash: algorand.genesis_hash,
      caip2: algorandCaip2(fromBase64(algorand.genesis_hash)),
      algod: algorand.algod,
      indexer: algorand.indexer,
    },
    /** CAIP-2 names accepted as a source's own chain beside the configured ones (sandbox only). */
    extraSourceChains: s.sandbox_source_chains ?? [],
    /** Who signs with the ML-DSA-65 key, and with the account's. */
    attestor: {
      ...(attestor as Record<"pq" | "account", KeySettings>),
      /** Of the account; absent: the one that the account's key has by itself. */
      address: s.attestor.address,
    },
    /** The rails that are enabled, by name. */
    rails,
    /** What each item of a batch adds to the price, in micro-USDC, and how many items it may have. */
    batch: { itemPrice: s.prices.batch_item_micro_usdc, maxItems: s.max_batch_items },
    /** The values of every rail's and chain's own table, enabled or not: read with `ownSettings`. */
    own: new Map<z.ZodObject, unknown>([
      ...own.chains.map((table) => [table.own, ownOf(s.chains, table)] as const),
      ...own.rails.map((table) => [table.own, ownOf(s.rails, table)] as const),
    ]),
    maxTimeoutSeconds: s.payments.max_timeout_seconds,
    /** For how long a payment may stay valid. */
    maxLifeSeconds: s.payments.max_life_seconds,
    /** The file of the table of checkpoints. Absent: none is published. */
    checkpointTable: s.checkpoint_table === undefined ? undefined : resolve(folder, s.checkpoint_table),
    providerQuorum: s.provider_quorum,
    /** Bytes that must be free for the journal. */
    diskReserve: BigInt(s.journal.disk_reserve_mib) * 2n ** 20n,
    /** After how many days a call at rest is pruned. Absent: never. */
    retentionDays: s.journal.retention_days,
    workers: s.workers ?? availableParallelism(),
    /** Requests a minute of each client, by class. */
    rateLimit: {
      paid: s.rate_limits.paid ?? s.rate_limits.default,
      verify: s.rate_limits.verify ?? s.rate_limits.default,
      agents: s.rate_limits.agents ?? s.rate_limits.default,
      documents: s.rate_limits.documents ?? s.rate_limits.default,
    },
    accessLog: s.access_log,
    /** Where spans are sent, and how. Absent: nothing is traced. */
    tracing,
    logLevel: s.log_level,
  };
}

/** The values of a rail's or chain's own table. @param table one of those that the settings were read for */
export function ownSettings<T extends OwnTable>(config: Pick<Config, "own">, table: T): z.output<T["own"]> {
  return config.own.get(table.own) as z.output<T["own"]>;
}

/** The tables with `PORT` of the environment, which an init system or a platform chooses. */
export function withPort({ tables, variables: { PORT: port } }: Settings): Table {
  // A text that is no number is refused as such.
  return port ? { ...tables, port: /^\d{1,6}$/.test(port) ? Number(port) : port } : tables;
}

/** Reads which rails are enabled: those with a payee, which must have nodes and a facilitator. */
function readRails(
  { rails, chains }: OwnTables,
  read: Read<ReturnType<typeof settingsSchema>>,
  given: Table,
  faults: SettingFaults,
): Record<string, RailSettings> {
  const isSet = (kind: "rails" | "chains", name: string, key: string) =>
    tableIn(tableIn(given, kind), name)[key] !== undefined;
  const isEnabled = (rail: OwnTables["rails"][number]) => rail.isRequired || isSet("rails", rail.name, "pay_to");
  const names = new Map(rails.map((rail) => [rail.name, isEnabled(rail)]));
  const tables = Array.isArray(given.facilitators) ? given.facilitators : [];
  const facilitators = readFacilitators(read.facilitators, tables, names, faults);
  const enabled = rails.filter(isEnabled).map((rail) => {
    const { name, chain } = rail;
    const on = rail.isRequired ? `Rail ${name} is always enabled` : `rails.${name}.pay_to is set`;
    if (chain && chains.includes(chain) && !isSet("chains", chain.name, "rpc"))
      faults.add(`${on}, but chains.${chain.name}.rpc is not.`);
    if (!facilitators.has(name)) faults.add(`${on}, but no [[facilitators]] table has "${name}" in its rails.`);
    const own = ownOf(read.rails, rail) as { pay_to?: string; price_micro_usdc?: bigint };
    const price = own.price_micro_usdc ?? read.prices.call_micro_usdc ?? 0n;
    return [name, { payTo: own.pay_to ?? "", facilitators: facilitators.get(name) ?? [], price }] as const;
  });
  return Object.fromEntries(enabled);
}

function ownOf(tables: object, { name }: OwnTable): unknown {
  return (tables as Record<string, unknown>)[name];
}

function tableIn(tables: Table, name: string): Table {
  const table = tables[name];
  return isTable(table) ? table : {};
}

function databaseOf(url: string, folder: string): { kind: "sqlite"; path: string } | { kind: "postgres"; url: string } {
  const path = url.match(/^sqlite:(.+)$/)?.[1];
  return path === undefined ? { kind: "postgres", url } : { kind: "sqlite", path: resolve(folder, path) };
}
