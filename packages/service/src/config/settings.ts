import { MAX_BATCH_ITEMS, MIN_BATCH_ITEMS } from "@attestd/proof";
import { ALGORAND_MAINNET_GENESIS_HASH } from "@attestd/proof/algorand";
import { z } from "zod";
import { endpoints, headerValue, list, origin, pairs, plainUrl, whole } from "./formats.ts";
import { price } from "./rails.ts";
import { SignerVariables } from "./signers.ts";

/** Those of OpenTelemetry that do not let the caller decide. */
const SAMPLERS = ["always_on", "always_off", "traceidratio"] as const;
const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

const perMinute = whole(1, 1_000_000).optional();
/** In the order of the URLs; an empty one is none. */
const tokens = list.pipe(z.array(z.union([z.literal(""), headerValue])));
const yesNo = z
  .enum(["0", "1", "true", "false"], "must be 1 or 0")
  .transform((text) => text === "1" || text === "true");

/** Every setting. Those ending in `_FILE` name a file that holds the value; they are read before this schema applies. */
export const Settings = z.object({
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
  ...SignerVariables.shape,
  PRICE_MICRO_USDC: price.default(1000n),
  BATCH_ITEM_MICRO_USDC: price.default(100n),
  MAX_BATCH: whole(MIN_BATCH_ITEMS, MAX_BATCH_ITEMS).default(MAX_BATCH_ITEMS),
  MAX_TIMEOUT_SECONDS: whole(30, 600).default(120),
  MAX_PAYMENT_LIFE_SECONDS: whole(90, 3600).default(3600),
  PROVIDER_QUORUM: whole(1, 100).optional(),
  CHECKPOINT_TABLE: z.string().optional(),
  DISK_RESERVE_MIB: whole(0, 1_000_000_000).default(256),
  RETENTION_DAYS: whole(1, 100_000).optional(),
  WORKERS: whole(1, 256).optional(),
  RATE_LIMIT: perMinute,
  RATE_LIMIT_PAID: perMinute,
  RATE_LIMIT_VERIFY: perMinute,
  RATE_LIMIT_AGENTS: perMinute,
  RATE_LIMIT_DOCUMENTS: perMinute,
  ACCESS_LOG: yesNo.default(false),
  LOG_LEVEL: z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(", ")}`).default("info"),
  OTEL_EXPORTER_OTLP_ENDPOINT: plainUrl("OTEL_EXPORTER_OTLP_HEADERS").optional(),
  OTEL_EXPORTER_OTLP_HEADERS: pairs.optional(),
  OTEL_SERVICE_NAME: z.string().max(100).default("attestd"),
  OTEL_RESOURCE_ATTRIBUTES: pairs.optional(),
  OTEL_TRACES_SAMPLER: z.enum(SAMPLERS, `must be one of ${SAMPLERS.join(", ")}`).default("always_on"),
  OTEL_TRACES_SAMPLER_ARG: z
    .string()
    .regex(/^(0(\.\d+)?|1(\.0+)?)$/, "must be a number from 0 to 1")
    .transform(Number)
    .optional(),
  TRACE_HOSTS: list.optional(),
  SANDBOX_SOURCE_CHAINS: list.optional(),
});

function databaseOf(url: string): { kind: "sqlite"; path: string } | { kind: "postgres"; url: string } {
  const path = url.match(/^sqlite:(.+)$/)?.[1];
  return path === undefined ? { kind: "postgres", url } : { kind: "sqlite", path };
}
