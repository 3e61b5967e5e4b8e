import { availableParallelism } from "node:os";
import { algorandCaip2 } from "@attestd/proof/algorand";
import { fromBase64 } from "@attestd/proof/encoding";
import type { z } from "zod";
import { compare } from "./contradictions.ts";
import { nearestName, orReport, SettingFaults, type Values } from "./faults.ts";
import type { UpstreamNode } from "./formats.ts";
import { namesOf, type RailVariables, railShape, readRail } from "./rails.ts";
import { readSecretFile } from "./secret-file.ts";
import { Settings } from "./settings.ts";
import { isRequiredByDefault, type KeySettings, readSigners } from "./signers.ts";
import { readSources, SOURCE_PREFIXES, SourceVariables } from "./sources.ts";

export { configInvalid } from "./faults.ts";
export type { UpstreamNode } from "./formats.ts";

/** Every setting, as `readConfig` returns it. */
export type Config = ReturnType<typeof readConfig>;

/**
 * Every setting, as docs/operating/settings.md lists it: `required`, or with the default that is not computed.
 * `NAME_FILE` may name a file that holds a secret's value.
 */
export function settingsOf(rails: readonly RailVariables[]) {
  const ofRails = Object.assign({}, ...rails.map(railShape));
  return Object.entries<z.ZodType>({ ...Settings.shape, ...SourceVariables.shape, ...ofRails }).map(
    ([name, schema]) => {
      const { success, data } = schema.safeParse(undefined);
      return { name, fromFile: SECRETS.includes(name), required: !success || isRequiredByDefault(name), default: data };
    },
  );
}

/** Every name that a setting may have, `NAME_FILE` among them. */
export function settingNames(rails: readonly RailVariables[]): ReadonlySet<string> {
  return new Set([...settingsOf(rails).map(({ name }) => name), ...SECRETS.map((name) => `${name}_FILE`)]);
}

/** Settings whose value a file may hold instead, which `NAME_FILE` names. Facilitators' are lists of files. */
const SECRETS: readonly string[] = [
  "ATTESTOR_MNEMONIC",
  "ATTESTOR_FALCON_MNEMONIC",
  "ATTESTOR_PQ_SEED",
  "OTEL_EXPORTER_OTLP_HEADERS",
];

/** What settings begin with, beside those of source chains and rails. */
const PREFIXES =
  "ADMIN ALGOD INDEXER ATTESTOR PAY_TO FACILITATOR PROVIDER SANDBOX PRICE BATCH MAX_BATCH MAX_TIMEOUT MAX_PAYMENT DISK RETENTION RATE_LIMIT";

/**
 * Reads every setting, once.
 *
 * @param env variables by name; empty ones count as absent
 * @param options.sandbox whether the process was started with `--sandbox`
 * @param options.rails whose settings are read: those of the registry
 * @param options.signs whether nothing can be done without the attestor's keys; else one that is not there is a fault only for
 *   who opens it
 * @throws config_invalid with every setting that is missing, wrong, unknown or contradictory
 */
export function readConfig(
  env: Readonly<Record<string, string | undefined>>,
  { sandbox, rails, signs = false }: { sandbox: boolean; rails: readonly RailVariables[]; signs?: boolean },
) {
  const present = Object.entries(env).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const faults = new SettingFaults();
  const keyFaults = signs ? faults : new SettingFaults();
  const resolved = resolveFiles(Object.fromEntries(present), rails, faults, keyFaults);
  const values = Object.fromEntries(Object.entries(resolved).filter(([name]) => !keyFaults.has(name)));
  const right = faults.readEach(Settings, values) ?? {};
  const attestor = readSigners(right, resolved, faults, keyFaults);
  compare(right, sandbox, faults);
  const sources = faults.read(SourceVariables, values);
  const enabled = rails.flatMap((rail) => {
    const settings = readRail(rail, values, faults);
    return settings ? [[rail.name, settings] as const] : [];
  });
  const own = rails.map((rail) => [rail, faults.read(rail.own, values)] as const);
  compareTraceHosts(values, faults);
  faults.throwAll();
  const s = Settings.parse(values);

  return {
    host: s.HOST,
    port: s.PORT,
    /** Origin of every absolute link; absent: the address listened on. */
    publicUrl: s.PUBLIC_URL,
    /** The listener for the operator. Absent: none. */
    admin: s.ADMIN_PORT === undefined ? undefined : { host: s.ADMIN_HOST, port: s.ADMIN_PORT },
    mcpUrl: s.MCP_URL,
    /** URI of the contact for this deployment (security.txt). */
    contact: s.CONTACT,
    trustProxy: s.TRUST_PROXY,
    database: s.DATABASE_URL,
    sandbox,
    /** The ledger: its genesis hash in base64, its CAIP-2 name, and its nodes. */
    algorand: {
      genesisHash: s.ALGORAND_GENESIS_HASH,
      caip2: algorandCaip2(fromBase64(s.ALGORAND_GENESIS_HASH)),
      algod: withTokens(s.ALGOD_URL, s.ALGOD_TOKEN),
      indexer: withTokens(s.INDEXER_URL, s.INDEXER_TOKEN),
    },
    /** The source chains with nodes of their own that are configured, by name. */
    sources: readSources(sources ?? {}),
    /** CAIP-2 names accepted as a source's own chain beside the configured ones (sandbox only). */
    extraSourceChains: s.SANDBOX_SOURCE_CHAINS ?? [],
    /** Who signs with the ML-DSA-65 key, and with the account's. */
    attestor: {
      ...(attestor as Record<"pq" | "account", KeySettings>),
      /** Of the account; absent: the one that the account's key has by itself. */
      address: s.ATTESTOR_ADDRESS,
    },
    /** The rails that are switched on, by name; `price` in micro-USDC a call. */
    rails: Object.fromEntries(
      enabled.map(([name, { price = s.PRICE_MICRO_USDC, ...rest }]) => [name, { ...rest, price }]),
    ),
    /** What each item of a batch adds to the price, in micro-USDC, and how many items it may have. */
    batch: { itemPrice: s.BATCH_ITEM_MICRO_USDC, maxItems: s.MAX_BATCH },
    /** The values of every rail's own settings, switched on or not: read with `ownSettings`. */
    ownSettings: new Map(own),
    maxTimeoutSeconds: s.MAX_TIMEOUT_SECONDS,
    /** For how long a payment may stay valid. */
    maxLifeSeconds: s.MAX_PAYMENT_LIFE_SECONDS,
    /** The file of the table of checkpoints. Absent: none is published. */
    checkpointTable: s.CHECKPOINT_TABLE,
    providerQuorum: s.PROVIDER_QUORUM,
    /** Bytes that must be free for the journal. */
    diskReserve: BigInt(s.DISK_RESERVE_MIB) * 2n ** 20n,
    /** After how many days a call at rest is pruned. Absent: never. */
    retentionDays: s.RETENTION_DAYS,
    workers: s.WORKERS ?? availableParallelism(),
    /** Requests a minute of each client, by class. */
    rateLimit: {
      paid: s.RATE_LIMIT_PAID ?? s.RATE_LIMIT,
      verify: s.RATE_LIMIT_VERIFY ?? s.RATE_LIMIT,
      agents: s.RATE_LIMIT_AGENTS ?? s.RATE_LIMIT,
      documents: s.RATE_LIMIT_DOCUMENTS ?? s.RATE_LIMIT,
    },
    accessLog: s.ACCESS_LOG,
    /** Where spans are sent, and how. Absent: nothing is traced. */
    tracing:
      s.OTEL_EXPORTER_OTLP_ENDPOINT === undefined
        ? undefined
        : {
            endpoint: s.OTEL_EXPORTER_OTLP_ENDPOINT,
            headers: s.OTEL_EXPORTER_OTLP_HEADERS ?? {},
            serviceName: s.OTEL_SERVICE_NAME,
            resourceAttributes: s.OTEL_RESOURCE_ATTRIBUTES ?? {},
            sampler: { name: s.OTEL_TRACES_SAMPLER, ratio: s.OTEL_TRACES_SAMPLER_ARG ?? 1 },
            /** Hosts of upstreams, with their ports, that are told of which trace a request is. */
            hosts: s.TRACE_HOSTS ?? [],
          },
    logLevel: s.LOG_LEVEL,
  };
}

/** The values of a rail's own settings. @param rail one of those that the settings were read for */
export function ownSettings<R extends RailVariables>(config: Pick<Config, "ownSettings">, rail: R): z.infer<R["own"]> {
  return config.ownSettings.get(rail) as z.infer<R["own"]>;
}

/** Adds each of TRACE_HOSTS that is the host of no upstream. */
function compareTraceHosts(values: Values, faults: SettingFaults): void {
  const upstreams = Object.entries(values).filter(([name]) => /(ALGOD|INDEXER|RPC|FACILITATOR)_URL$/.test(name));
  const hosts = new Set(
    upstreams.flatMap(([, urls = ""]) => urls.split(",").map((text) => URL.parse(text.trim())?.host)),
  );
  if (!values.TRACE_HOSTS?.split(",").some((host) => !hosts.has(host.trim()))) return;
  const message = "TRACE_HOSTS must name hosts of upstreams as their URLs do, with the port if they have one.";
  faults.add("TRACE_HOSTS", message);
}

/**
 * Replaces each `NAME_FILE` by the value that its file holds, and adds names that are none of a setting.
 *
 * @param keyFaults has the attestor's keys that cannot be read
 */
function resolveFiles(
  env: Values,
  rails: readonly RailVariables[],
  faults: SettingFaults,
  keyFaults: SettingFaults,
): Record<string, string> {
  const known = settingNames(rails);
  const prefixes = [...PREFIXES.split(" "), ...SOURCE_PREFIXES, ...rails.map((rail) => namesOf(rail).prefix)];
  for (const name of Object.keys(env).filter((name) => !known.has(name))) {
    const meant = nearestName(name, known);
    const isLikeOurs = prefixes.some((prefix) => name.startsWith(`${prefix}_`));
    // The environment also has other programs' variables.
    if (!isLikeOurs && (meant === undefined || env[meant] !== undefined)) continue;
    faults.add(name, `${name} is not a setting of attestd.${meant === undefined ? "" : ` Did you mean ${meant}?`}`);
  }
  const resolved = { ...env };
  for (const name of SECRETS) {
    const path = env[`${name}_FILE`];
    if (path === undefined) continue;
    const ofSecret = name.startsWith("ATTESTOR_") ? keyFaults : faults;
    const report = (predicate: string) => ofSecret.add(name, `${name}_FILE ${predicate}.`);
    if (env[name] !== undefined) faults.add(name, `${name} and ${name}_FILE are both set: keep one.`);
    else resolved[name] = orReport(() => readSecretFile(path), report) ?? "";
  }
  return resolved;
}

function withTokens(urls: string[], tokens: string[] | undefined): UpstreamNode[] {
  return urls.map((url, i) => ({ url, ...(tokens?.[i] && { token: tokens[i] }) }));
}
