import { isIP } from "node:net";
import { availableParallelism } from "node:os";
import { ALGORAND_MAINNET_GENESIS_HASH, algorandCaip2 } from "@attestd/proof/algorand";
import { fromBase64 } from "@attestd/proof/encoding";
import { z } from "zod";
import { nearestName, SettingFaults, type Values } from "./faults.ts";
import { endpoints, headerValue, list, origin, type UpstreamNode, whole } from "./formats.ts";
import { seedOfMnemonic } from "./mnemonic.ts";
import { namesOf, price, type RailVariables, railShape, readRail } from "./rails.ts";
import { readSecretFile } from "./secret-file.ts";
import { readSources, SOURCE_PREFIXES, SourceVariables } from "./sources.ts";

export { configInvalid } from "./faults.ts";
export type { UpstreamNode } from "./formats.ts";

/** Every setting, as `readConfig` returns it. */
export type Config = ReturnType<typeof readConfig>;

const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

/** In the order of the URLs; an empty one is none. */
const tokens = list.pipe(z.array(z.union([z.literal(""), headerValue])));
const yesNo = z
  .enum(["0", "1", "true", "false"], "must be 1 or 0")
  .transform((text) => text === "1" || text === "true");
/** Seconds that a payment may live beyond the time of an offer, at least: for clocks and transport. */
const LIFE_BEYOND_TIMEOUT = 60;

/** Every setting. Those ending in `_FILE` name a file that holds the value; they are read before this schema applies. */
const Settings = z.object({
  HOST: z.string().default("127.0.0.1"),
  PORT: whole(0, 65535).default(4020),
  PUBLIC_URL: origin.optional(),
  MCP_URL: origin.optional(),
  ADMIN_HOST: z.string().default("127.0.0.1"),
  ADMIN_PORT: whole(0, 65535).optional(),
  CONTACT: z
    .string()
    .regex(/^(mailto:[^\s@]+@[^\s@]+|https:\/\/\S+)$/, "must be a mailto: or https: URI")
    .refine((uri) => !/^https:\/\/[^/?#]*@/.test(uri), "is published, and must hold no credentials")
    .optional(),
  TRUST_PROXY: yesNo.default(false),
  DATABASE_URL: z
    .string()
    .regex(/^(sqlite:.+|postgres(ql)?:\/\/.+)$/, "must be sqlite:<path> or postgres://…")
    .transform(databaseOf),
  ALGOD_URL: endpoints,
  ALGOD_TOKEN: tokens.optional(),
  INDEXER_URL: endpoints,
  INDEXER_TOKEN: tokens.optional(),
  ALGORAND_GENESIS_HASH: z
    .string()
    .regex(/^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/, "must be 32 bytes in base64")
    .default(ALGORAND_MAINNET_GENESIS_HASH),
  ATTESTOR_MNEMONIC: z.string().transform((text, { addIssue }) => {
    try {
      return seedOfMnemonic(text);
    } catch (error) {
      addIssue((error as RangeError).message);
      return z.NEVER;
    }
  }),
  ATTESTOR_PQ_SEED: z
    .string()
    .regex(/^[0-9a-fA-F]{64}$/, "must be 32 bytes in hex")
    .transform((hex) => Uint8Array.fromHex(hex)),
  PRICE_MICRO_USDC: price.default(1000n),
  MAX_TIMEOUT_SECONDS: whole(30, 600).default(120),
  MAX_PAYMENT_LIFE_SECONDS: whole(90, 3600).default(3600),
  PROVIDER_QUORUM: whole(1, 100).optional(),
  DISK_RESERVE_MIB: whole(0, 1_000_000_000).default(256),
  WORKERS: whole(1, 256).optional(),
  RATE_LIMIT: whole(1, 1_000_000).optional(),
  LOG_LEVEL: z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(", ")}`).default("info"),
  SANDBOX_SOURCE_CHAINS: list.optional(),
});

/** Of settings some of which are at fault: those that are not. */
const RightSettings = Settings.partial();

/**
 * Every setting, as docs/operations.md lists it: `required`, or with the default that is not computed. `NAME_FILE` may name
 * a file that holds a secret's value.
 */
export function settingsOf(rails: readonly RailVariables[]) {
  const ofRails = Object.assign({}, ...rails.map(railShape));
  return Object.entries<z.ZodType>({ ...Settings.shape, ...SourceVariables.shape, ...ofRails }).map(
    ([name, schema]) => {
      const { success, data } = schema.safeParse(undefined);
      return { name, fromFile: SECRETS.includes(name), required: !success, default: data };
    },
  );
}

/** Every name that a setting may have, `NAME_FILE` among them. */
export function settingNames(rails: readonly RailVariables[]): ReadonlySet<string> {
  return new Set([...settingsOf(rails).map(({ name }) => name), ...SECRETS.map((name) => `${name}_FILE`)]);
}

/** Settings whose value a file may hold instead, which `NAME_FILE` names. Facilitators' are lists of files. */
const SECRETS: readonly string[] = ["ATTESTOR_MNEMONIC", "ATTESTOR_PQ_SEED"];

/** What settings begin with, beside those of source chains and rails. */
const PREFIXES = "ADMIN ALGOD INDEXER ATTESTOR PAY_TO FACILITATOR PROVIDER SANDBOX PRICE MAX_TIMEOUT MAX_PAYMENT DISK";

/**
 * Reads every setting, once.
 *
 * @param env variables by name; empty ones count as absent
 * @param options.sandbox whether the process was started with `--sandbox`
 * @param options.rails whose settings are read: those of the registry
 * @throws config_invalid with every setting that is missing, wrong, unknown or contradictory
 */
export function readConfig(
  env: Readonly<Record<string, string | undefined>>,
  { sandbox, rails }: { sandbox: boolean; rails: readonly RailVariables[] },
) {
  const present = Object.entries(env).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const faults = new SettingFaults();
  const values = resolveFiles(Object.fromEntries(present), rails, faults);
  compare(faults.readEach(Settings, values) ?? {}, sandbox, faults);
  const sources = faults.read(SourceVariables, values);
  const enabled = rails.flatMap((rail) => {
    const settings = readRail(rail, values, faults);
    return settings ? [[rail.name, settings] as const] : [];
  });
  const own = rails.map((rail) => [rail, faults.read(rail.own, values)] as const);
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
    /** Both seeds have 32 bytes: of the account, and of the ML-DSA-65 key. */
    attestor: { seed: s.ATTESTOR_MNEMONIC, pqSeed: s.ATTESTOR_PQ_SEED },
    /** The rails that are switched on, by name; `price` in micro-USDC a call. */
    rails: Object.fromEntries(
      enabled.map(([name, { price = s.PRICE_MICRO_USDC, ...rest }]) => [name, { ...rest, price }]),
    ),
    /** The values of every rail's own settings, switched on or not: read with `ownSettings`. */
    ownSettings: new Map(own),
    maxTimeoutSeconds: s.MAX_TIMEOUT_SECONDS,
    /** For how long a payment may stay valid. */
    maxLifeSeconds: s.MAX_PAYMENT_LIFE_SECONDS,
    providerQuorum: s.PROVIDER_QUORUM,
    /** Bytes that must be free for the journal. */
    diskReserve: BigInt(s.DISK_RESERVE_MIB) * 2n ** 20n,
    workers: s.WORKERS ?? availableParallelism(),
    /** Requests a minute per client. */
    rateLimit: sandbox ? undefined : s.RATE_LIMIT,
    logLevel: s.LOG_LEVEL,
  };
}

/** The values of a rail's own settings. @param rail one of those that the settings were read for */
export function ownSettings<R extends RailVariables>(config: Pick<Config, "ownSettings">, rail: R): z.infer<R["own"]> {
  return config.ownSettings.get(rail) as z.infer<R["own"]>;
}

/** Replaces each `NAME_FILE` by the value that its file holds, and adds names that are none of a setting. */
function resolveFiles(env: Values, rails: readonly RailVariables[], faults: SettingFaults): Record<string, string> {
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
    if (env[name] !== undefined) faults.add(name, `${name} and ${name}_FILE are both set: keep one.`);
    else resolved[name] = readSecret(name, path, faults);
  }
  return resolved;
}

/** @returns "" when it cannot be read */
function readSecret(name: string, path: string, faults: SettingFaults): string {
  try {
    return readSecretFile(path);
  } catch (error) {
    faults.add(name, `${name}_FILE ${(error as RangeError).message}.`);
    return "";
  }
}

/** Adds contradictions between settings. @param s those that are well formed */
function compare(s: z.output<typeof RightSettings>, sandbox: boolean, faults: SettingFaults): void {
  const mainNet = s.ALGORAND_GENESIS_HASH === ALGORAND_MAINNET_GENESIS_HASH;
  if (s.ALGORAND_GENESIS_HASH !== undefined && mainNet === sandbox) {
    const message = sandbox
      ? "--sandbox needs ALGORAND_GENESIS_HASH of the sandbox's own ledger, not MainNet's."
      : "ALGORAND_GENESIS_HASH is not Algorand MainNet's: another ledger starts only with --sandbox.";
    faults.add("ALGORAND_GENESIS_HASH", message);
  }
  if (sandbox && s.HOST !== undefined && !isLoopback(s.HOST))
    faults.add("HOST", "--sandbox listens on a loopback HOST only, e.g. 127.0.0.1.");
  if (!sandbox && s.SANDBOX_SOURCE_CHAINS)
    faults.add("SANDBOX_SOURCE_CHAINS", "SANDBOX_SOURCE_CHAINS needs --sandbox.");
  const providers = Math.min(s.ALGOD_URL?.length ?? Infinity, s.INDEXER_URL?.length ?? Infinity);
  if (s.PROVIDER_QUORUM !== undefined && s.PROVIDER_QUORUM > providers) {
    const message = "PROVIDER_QUORUM is larger than the number of ALGOD_URL or INDEXER_URL providers.";
    faults.add("PROVIDER_QUORUM", message);
  }
  for (const [prefix, urls, tokens] of [
    ["ALGOD", s.ALGOD_URL, s.ALGOD_TOKEN],
    ["INDEXER", s.INDEXER_URL, s.INDEXER_TOKEN],
  ] as const)
    if (urls && tokens && tokens.length !== urls.length)
      faults.add(
        `${prefix}_TOKEN`,
        `${prefix}_TOKEN has ${tokens.length} entries and ${prefix}_URL has ${urls.length}.`,
      );

  const leastLife = (s.MAX_TIMEOUT_SECONDS ?? 0) + LIFE_BEYOND_TIMEOUT;
  if (s.MAX_PAYMENT_LIFE_SECONDS !== undefined && s.MAX_PAYMENT_LIFE_SECONDS < leastLife) {
    const message = `MAX_PAYMENT_LIFE_SECONDS must be at least ${leastLife}, a minute more than MAX_TIMEOUT_SECONDS.`;
    faults.add("MAX_PAYMENT_LIFE_SECONDS", message);
  }
}

function withTokens(urls: string[], tokens: string[] | undefined): UpstreamNode[] {
  return urls.map((url, i) => ({ url, ...(tokens?.[i] && { token: tokens[i] }) }));
}

function databaseOf(url: string): { kind: "sqlite"; path: string } | { kind: "postgres"; url: string } {
  const path = url.match(/^sqlite:(.+)$/)?.[1];
  return path === undefined ? { kind: "postgres", url } : { kind: "sqlite", path };
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}
