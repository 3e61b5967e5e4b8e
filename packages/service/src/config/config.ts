import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { availableParallelism } from "node:os";
import { ALGORAND_MAINNET_GENESIS_HASH, algorandCaip2 } from "@attestd/proof/algorand";
import { fromBase64 } from "@attestd/proof/encoding";
import { z } from "zod";
import {
  algorandAddress,
  endpoints,
  evmAddress,
  headerValue,
  list,
  origin,
  publishedUrl,
  solanaWallet,
  type UpstreamNode,
  whole,
} from "./formats.ts";
import { seedOfMnemonic } from "./mnemonic.ts";
import { readSources, SOURCE_PREFIXES, type SourceSettings, SourceVariables } from "./sources.ts";

/** A setting is missing, wrong or contradicts another; `message` is one sentence with its name and the remedy. */
export class ConfigError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ConfigError";
  }
}

export type { UpstreamNode } from "./formats.ts";

/** A facilitator; `auth` is the value of its Authorization header. */
export type FacilitatorSettings = { url: string; auth?: string };

export type RailSettings = { payTo: string; facilitator: FacilitatorSettings };

export type PaymentLimits = {
  /** For how long it may stay valid. */
  lifeSeconds: number;
  /** microAlgos that it may make the fee payer on Algorand pay, for the whole group. */
  algorandFee: number;
  /** Gas that the check of a wallet's signature (ERC-1271) may take on Base. */
  baseSignatureGas: number;
  /** Compute units that it may ask for on Solana, and the micro-lamports that it may offer for each. */
  solanaComputeUnits: number;
  solanaComputeUnitPrice: number;
};

export type Config = {
  host: string;
  port: number;
  /** Origin of every absolute link; absent: the address listened on. */
  publicUrl?: string;
  mcpUrl?: string;
  /** URI of the contact for this deployment (security.txt). */
  contact?: string;
  trustProxy: boolean;
  database: { kind: "sqlite"; path: string } | { kind: "postgres"; url: string };
  sandbox: boolean;
  /** The ledger: its genesis hash in base64, and its CAIP-2 name. */
  algorand: { genesisHash: string; caip2: string; algod: UpstreamNode[]; indexer: UpstreamNode[] };
  /** The source chains with nodes of their own that are configured, by name. */
  sources: Readonly<Record<string, SourceSettings>>;
  solana?: { rpc: UpstreamNode[] };
  /** CAIP-2 names accepted as a source's own chain beside the configured ones (sandbox only). */
  extraSourceChains: string[];
  /** Both seeds have 32 bytes: of the account, and of the ML-DSA-65 key. */
  attestor: { seed: Uint8Array; pqSeed: Uint8Array };
  rails: { algorand: RailSettings; base?: RailSettings; solana?: RailSettings };
  /** micro-USDC a call. */
  price: bigint;
  maxTimeoutSeconds: number;
  /** Limits of a payment: longer or dearer ones are refused with the limit. */
  limits: PaymentLimits;
  providerQuorum?: number;
  /** Bytes that must be free for the journal. */
  diskReserve: bigint;
  workers: number;
  /** Requests a minute per client. */
  rateLimit?: number;
  logLevel: (typeof LOG_LEVELS)[number];
};

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
  CONTACT: z
    .string()
    .regex(/^(mailto:[^\s@]+@[^\s@]+|https:\/\/\S+)$/, "must be a mailto: or https: URI")
    .refine((uri) => !/^https:\/\/[^/?#]*@/.test(uri), "is published, and must hold no credentials")
    .optional(),
  TRUST_PROXY: yesNo.default(false),
  DATABASE_URL: z
    .string()
    .regex(/^(sqlite:.+|postgres(ql)?:\/\/.+)$/, "must be sqlite:<path> or postgres://…")
    .optional(),
  ALGOD_URL: endpoints,
  ALGOD_TOKEN: tokens.optional(),
  INDEXER_URL: endpoints,
  INDEXER_TOKEN: tokens.optional(),
  SOLANA_RPC_URL: endpoints.optional(),
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
  PAY_TO_ALGORAND: algorandAddress,
  PAY_TO_BASE: evmAddress.optional(),
  PAY_TO_SOLANA: solanaWallet.optional(),
  FACILITATOR_URL: publishedUrl("FACILITATOR_AUTH"),
  FACILITATOR_AUTH: headerValue.optional(),
  BASE_FACILITATOR_URL: publishedUrl("BASE_FACILITATOR_AUTH").optional(),
  BASE_FACILITATOR_AUTH: headerValue.optional(),
  SOLANA_FACILITATOR_URL: publishedUrl("SOLANA_FACILITATOR_AUTH").optional(),
  SOLANA_FACILITATOR_AUTH: headerValue.optional(),
  PRICE_MICRO_USDC: whole(1, 1_000_000_000).default(1000),
  MAX_TIMEOUT_SECONDS: whole(30, 600).default(120),
  MAX_PAYMENT_LIFE_SECONDS: whole(90, 3600).default(3600),
  ALGORAND_MAX_FEE: whole(2_000, 1_000_000).default(3_000),
  BASE_MAX_SIGNATURE_GAS: whole(50_000, 5_000_000).default(400_000),
  SOLANA_MAX_COMPUTE_UNITS: whole(20_000, 1_400_000).default(50_000),
  SOLANA_MAX_COMPUTE_UNIT_PRICE: whole(1, 5_000_000).default(100_000),
  PROVIDER_QUORUM: whole(1, 100).optional(),
  DISK_RESERVE_MIB: whole(0, 1_000_000_000).default(256),
  WORKERS: whole(1, 256).optional(),
  RATE_LIMIT: whole(1, 1_000_000).optional(),
  LOG_LEVEL: z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(", ")}`).default("info"),
  SANDBOX_SOURCE_CHAINS: list.optional(),
});

type Environment = Readonly<Record<string, string | undefined>>;

/** Settings that hold a secret: `NAME_FILE` may name a file that holds the value. */
const FROM_FILE = [
  "ATTESTOR_MNEMONIC",
  "ATTESTOR_PQ_SEED",
  "FACILITATOR_AUTH",
  "BASE_FACILITATOR_AUTH",
  "SOLANA_FACILITATOR_AUTH",
] as const;

/** Every setting, as docs/operations.md lists it: `required`, or with the default that is not computed. */
export const SETTINGS = Object.entries({ ...Settings.shape, ...SourceVariables.shape }).map(([name, schema]) => {
  const { success, data } = schema.safeParse(undefined);
  const fromFile = FROM_FILE.some((secret) => secret === name);
  return { name, fromFile, required: !success || name === "DATABASE_URL", default: data };
});

/** A variable with one of these prefixes that is not a setting is refused as a typing error. */
const PREFIXES = new RegExp(
  `^(ALGOD|INDEXER|ALGORAND|${SOURCE_PREFIXES.join("|")}|SOLANA|ATTESTOR|PAY_TO|FACILITATOR|PROVIDER|SANDBOX|PRICE|MAX_TIMEOUT|MAX_PAYMENT|DISK)_`,
);

/**
 * Reads every setting, once.
 *
 * @param env variables by name; empty ones count as absent
 * @param options.sandbox whether the process was started with `--sandbox`
 * @throws ConfigError naming the first setting that is missing, wrong or contradictory
 */
export function readConfig(env: Environment, { sandbox }: { sandbox: boolean }): Config {
  const values = resolveFiles(withoutEmpty(env));
  const s = parse(Settings, values);
  const sources = readSources(parse(SourceVariables, values));

  const mainNet = s.ALGORAND_GENESIS_HASH === ALGORAND_MAINNET_GENESIS_HASH;
  if (!mainNet && !sandbox)
    throw new ConfigError(
      "ALGORAND_GENESIS_HASH is not Algorand MainNet's: another ledger starts only with --sandbox.",
    );
  if (sandbox && mainNet)
    throw new ConfigError("--sandbox needs ALGORAND_GENESIS_HASH of the sandbox's own ledger, not MainNet's.");
  if (sandbox && !isLoopback(s.HOST))
    throw new ConfigError("--sandbox listens on a loopback HOST only, e.g. 127.0.0.1.");
  if (!sandbox && s.SANDBOX_SOURCE_CHAINS) throw new ConfigError("SANDBOX_SOURCE_CHAINS needs --sandbox.");
  if (!s.DATABASE_URL) throw new ConfigError("DATABASE_URL is not set: sqlite:<path> or postgres://…");
  if (s.PROVIDER_QUORUM !== undefined && s.PROVIDER_QUORUM > Math.min(s.ALGOD_URL.length, s.INDEXER_URL.length))
    throw new ConfigError("PROVIDER_QUORUM is larger than the number of ALGOD_URL or INDEXER_URL providers.");

  const leastLife = s.MAX_TIMEOUT_SECONDS + LIFE_BEYOND_TIMEOUT;
  if (s.MAX_PAYMENT_LIFE_SECONDS < leastLife)
    throw new ConfigError(
      `MAX_PAYMENT_LIFE_SECONDS must be at least ${leastLife}, a minute more than MAX_TIMEOUT_SECONDS.`,
    );

  const base = optionalRail("BASE", s.PAY_TO_BASE, s.BASE_FACILITATOR_URL, s.BASE_FACILITATOR_AUTH, sources.base);
  const solana = optionalRail(
    "SOLANA",
    s.PAY_TO_SOLANA,
    s.SOLANA_FACILITATOR_URL,
    s.SOLANA_FACILITATOR_AUTH,
    s.SOLANA_RPC_URL,
  );
  return {
    host: s.HOST,
    port: s.PORT,
    ...(s.PUBLIC_URL && { publicUrl: new URL(s.PUBLIC_URL).origin }),
    ...(s.MCP_URL && { mcpUrl: new URL(s.MCP_URL).origin }),
    ...(s.CONTACT && { contact: s.CONTACT }),
    trustProxy: s.TRUST_PROXY,
    database: s.DATABASE_URL.startsWith("sqlite:")
      ? { kind: "sqlite", path: s.DATABASE_URL.slice("sqlite:".length) }
      : { kind: "postgres", url: s.DATABASE_URL },
    sandbox,
    algorand: {
      genesisHash: s.ALGORAND_GENESIS_HASH,
      caip2: algorandCaip2(fromBase64(s.ALGORAND_GENESIS_HASH)),
      algod: withTokens("ALGOD", s.ALGOD_URL, s.ALGOD_TOKEN),
      indexer: withTokens("INDEXER", s.INDEXER_URL, s.INDEXER_TOKEN),
    },
    sources,
    ...(s.SOLANA_RPC_URL && { solana: { rpc: s.SOLANA_RPC_URL.map((url) => ({ url })) } }),
    extraSourceChains: s.SANDBOX_SOURCE_CHAINS ?? [],
    attestor: { seed: s.ATTESTOR_MNEMONIC, pqSeed: s.ATTESTOR_PQ_SEED },
    rails: {
      algorand: rail(s.PAY_TO_ALGORAND, s.FACILITATOR_URL, s.FACILITATOR_AUTH),
      ...(base && { base }),
      ...(solana && { solana }),
    },
    price: BigInt(s.PRICE_MICRO_USDC),
    maxTimeoutSeconds: s.MAX_TIMEOUT_SECONDS,
    limits: {
      lifeSeconds: s.MAX_PAYMENT_LIFE_SECONDS,
      algorandFee: s.ALGORAND_MAX_FEE,
      baseSignatureGas: s.BASE_MAX_SIGNATURE_GAS,
      solanaComputeUnits: s.SOLANA_MAX_COMPUTE_UNITS,
      solanaComputeUnitPrice: s.SOLANA_MAX_COMPUTE_UNIT_PRICE,
    },
    ...(s.PROVIDER_QUORUM !== undefined && { providerQuorum: s.PROVIDER_QUORUM }),
    diskReserve: BigInt(s.DISK_RESERVE_MIB) * 2n ** 20n,
    workers: s.WORKERS ?? availableParallelism(),
    ...(s.RATE_LIMIT !== undefined && !sandbox && { rateLimit: s.RATE_LIMIT }),
    logLevel: s.LOG_LEVEL,
  };
}

function withoutEmpty(env: Environment): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => Boolean(entry[1])));
}

function resolveFiles(env: Record<string, string>): Record<string, string> {
  const known = new Set(SETTINGS.flatMap(({ name, fromFile }) => (fromFile ? [name, `${name}_FILE`] : [name])));
  for (const name of Object.keys(env)) {
    if (PREFIXES.test(name) && !known.has(name)) throw new ConfigError(`${name} is not a setting of attestd.`);
  }
  const resolved = { ...env };
  for (const name of FROM_FILE) {
    const path = env[`${name}_FILE`];
    if (path === undefined) continue;
    if (env[name] !== undefined) throw new ConfigError(`${name} and ${name}_FILE are both set: keep one.`);
    resolved[name] = readSecret(`${name}_FILE`, path);
  }
  return resolved;
}

function readSecret(setting: string, path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    throw new ConfigError(`${setting} cannot be read: ${(error as NodeJS.ErrnoException).code ?? "unknown error"}.`);
  }
}

function withTokens(prefix: string, urls: string[], tokens: string[] | undefined): UpstreamNode[] {
  if (tokens && tokens.length !== urls.length)
    throw new ConfigError(`${prefix}_TOKEN has ${tokens.length} entries and ${prefix}_URL has ${urls.length}.`);
  return urls.map((url, i) => ({ url, ...(tokens?.[i] && { token: tokens[i] }) }));
}

function rail(payTo: string, url: string, auth: string | undefined): RailSettings {
  return { payTo, facilitator: { url, ...(auth && { auth }) } };
}

/** A rail is on when all of its settings are there, off when its payee and facilitator are not. */
function optionalRail(
  name: "BASE" | "SOLANA",
  payTo: string | undefined,
  url: string | undefined,
  auth: string | undefined,
  nodes: unknown,
): RailSettings | undefined {
  if (payTo === undefined && url === undefined) return undefined;
  if (payTo === undefined) throw new ConfigError(`${name}_FACILITATOR_URL is set but PAY_TO_${name} is not.`);
  if (url === undefined) throw new ConfigError(`PAY_TO_${name} is set but ${name}_FACILITATOR_URL is not.`);
  if (nodes === undefined) throw new ConfigError(`PAY_TO_${name} is set but ${name}_RPC_URL is not.`);
  return rail(payTo, url, auth);
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}

/** @throws ConfigError naming the first setting that does not fit */
function parse<T>(schema: z.ZodType<T>, values: Record<string, string>): T {
  const settings = schema.safeParse(values);
  if (!settings.success) throw new ConfigError(sentence(settings.error.issues[0], values));
  return settings.data;
}

/** Never quotes a value: it may be a secret. */
function sentence(issue: z.core.$ZodIssue | undefined, values: Record<string, string>): string {
  const name = String(issue?.path[0]);
  return values[name] === undefined ? `${name} is not set.` : `${name} ${issue?.message}.`;
}
