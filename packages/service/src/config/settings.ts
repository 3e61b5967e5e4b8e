import { MAX_BATCH_ITEMS, MIN_BATCH_ITEMS } from "@attestd/proof";
import { ALGORAND_MAINNET_GENESIS_HASH } from "@attestd/proof/algorand";
import { z } from "zod";
import { Facilitator } from "./facilitators.ts";
import { nodes, origin, price, whole } from "./formats.ts";
import { type OwnTables, railShape } from "./own-tables.ts";
import { orReference } from "./references.ts";
import { Attestor } from "./signers.ts";

/**
 * What `attestd settings` and the documentation add to a setting's schema. `otherwise`: what holds where the setting is
 * absent and the schema has no default. `example`: a value, as TOML has it. `isRequired`: usually required, though the
 * schema alone does not say so. `mayBeSecret`: a value that is written inline may hold a secret all the same.
 */
export type About = {
  description?: string;
  otherwise?: string;
  example?: unknown;
  isRequired?: boolean;
  mayBeSecret?: boolean;
};

const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

const perMinute = (what: string) =>
  whole(1, 1_000_000)
    .optional()
    .meta({ description: `The same, of ${what}.`, otherwise: "rate_limits.default", example: 60 });

/** The settings, but for the tables of chains and rails. */
const Settings = z.strictObject({
  host: z.string().min(1, "must be an address").default("127.0.0.1").describe("The address to listen on."),
  port: whole(0, 65535)
    .default(4020)
    .describe("The port to listen on; 0 takes a free one. The variable `PORT` of the environment replaces it."),
  public_url: origin.optional().meta({
    description: "Origin of every absolute link. Set it before the first start: the key history names it for ever.",
    otherwise: "the address listened on",
    example: "https://attestd.example",
  }),
  mcp_url: origin.optional().meta({
    description: "Origin of the MCP endpoint, `/mcp`, which answers only at these two and at loopback.",
    otherwise: "`public_url`",
    example: "https://mcp.attestd.example",
  }),
  contact: z
    .string()
    .regex(/^(mailto:[^\s@]+@[^\s@]+|https:\/\/\S+)$/, "must be a mailto: or https: URI")
    .refine((uri) => !/^https:\/\/[^/?#]*@/.test(uri), "is published, and must hold no credentials")
    .optional()
    .meta({
      description: "`mailto:` or `https:` of the person responsible for this deployment, for `security.txt`.",
      otherwise: "postmaster of its host",
      example: "mailto:security@attestd.example",
    }),
  trust_proxy: z
    .boolean()
    .default(false)
    .describe("true: behind your own proxy; the last address of X-Forwarded-For is the client."),
  log_level: z
    .enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(", ")}`)
    .default("info")
    .describe(`${LOG_LEVELS.join(", ")}: pino's levels.`),
  access_log: z
    .boolean()
    .default(false)
    .describe("true: the [log](../monitoring/README.md#logs) has a line for each request."),
  workers: whole(1, 256).optional().meta({
    description: "Workers that verify bundles, and as many again, when there is work, for whole blocks.",
    otherwise: "the cores",
    example: 4,
  }),
  provider_quorum: whole(1, 100).optional().meta({
    description: "How many nodes of one list must agree; see [below](#how-many-nodes-must-agree).",
    otherwise: "a majority",
    example: 2,
  }),
  max_batch_items: whole(MIN_BATCH_ITEMS, MAX_BATCH_ITEMS)
    .default(MAX_BATCH_ITEMS)
    .describe(`Items that a batch may have, ${MIN_BATCH_ITEMS} to ${MAX_BATCH_ITEMS}.`),
  checkpoint_table: z.string().optional().meta({
    description:
      "File of a [table of checkpoints](../command-line.md#what-evidence-rests-on), which `/.well-known/algorand-checkpoints.json` publishes; read again when it changes.",
    otherwise: "none",
    example: "checkpoints.json",
  }),
  trace_hosts: z
    .array(z.string())
    .optional()
    .meta({
      description:
        "Hosts of upstreams, with their ports, that are told of the [trace](../monitoring/README.md#traces); those at loopback always are.",
      otherwise: "none",
      example: ["algod.example"],
    }),
  sandbox_source_chains: z
    .array(z.string())
    .optional()
    .meta({
      description: "CAIP-2 names that a source may name as its chain; only with `--sandbox`.",
      otherwise: "none",
      example: ["algorand:wGHE2Pwdvd7S12BL5FaOP20GEYesN73k"],
    }),
  journal: z.strictObject({
    url: orReference(
      z.string().regex(/^(sqlite:.+|postgres(ql)?:\/\/.+)$/, "must be sqlite:<path> or postgres://…"),
    ).meta({
      description:
        "The database of calls and keys: `sqlite:data/journal.sqlite`, or `postgres://…`, whose password only a reference may hold; required.",
      example: "sqlite:data/journal.sqlite",
      mayBeSecret: true,
    }),
    disk_reserve_mib: whole(0, 1_000_000_000)
      .default(256)
      .describe("MiB that must be free for the journal, or nothing is sold; 0 for no limit."),
    retention_days: whole(1, 100_000).optional().meta({
      description:
        "After how many days a call at rest is [pruned](journal.md#retention) to what a replay and an audit need.",
      otherwise: "never",
      example: 90,
    }),
  }),
  attestor: Attestor,
  chains: z.strictObject({
    algorand: z.strictObject({
      algod: nodes.meta({
        description:
          'Algod nodes: URLs, or `{ url = "…", token = "env:NAME" }`; three of different hosts are best; required.',
        example: [],
        mayBeSecret: true,
      }),
      indexer: nodes.meta({ description: "Indexers, likewise; required.", example: [], mayBeSecret: true }),
      genesis_hash: z
        .string()
        .regex(/^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/, "must be 32 bytes in base64")
        .default(ALGORAND_MAINNET_GENESIS_HASH)
        .describe(
          "Genesis hash of the ledger: MainNet's; another one starts only with `--sandbox`, on a loopback host.",
        ),
    }),
  }),
  rails: z.strictObject({}),
  facilitators: z.array(Facilitator),
  prices: z.strictObject({
    call_micro_usdc: price.default(1000n).describe("Price of a call, in micro-USDC."),
    batch_item_micro_usdc: price
      .default(100n)
      .describe(
        "What each item of a batch adds to the price of a call, in micro-USDC, on every rail; see [costs](costs.md).",
      ),
  }),
  payments: z.strictObject({
    max_timeout_seconds: whole(30, 600)
      .default(120)
      .describe("Time that an offer gives; a request waits 30 s longer for its bundle."),
    max_life_seconds: whole(90, 3600)
      .default(3600)
      .describe("How long a payment may stay valid; see [below](#what-a-payment-may-cost)."),
  }),
  rate_limits: z.strictObject({
    default: whole(1, 1_000_000).optional().meta({
      description: "Requests a minute of one client, in each [class](#rate-limits); an IPv6 /64 is one client.",
      otherwise: "off",
      example: 120,
    }),
    paid: perMinute("the class `paid`"),
    verify: perMinute("the class `verify`"),
    agents: perMinute("the class `agents`"),
    documents: perMinute("the class `documents`"),
  }),
  admin: z.strictObject({
    host: z.string().min(1, "must be an address").default("127.0.0.1").describe("The address of the metrics."),
    port: whole(0, 65535).optional().meta({
      description: "The port of the metrics ([monitoring](../monitoring/README.md)).",
      otherwise: "there are none",
      example: 9464,
    }),
  }),
});

/** The schema of the file of settings, with the tables of chains and rails. */
export function settingsSchema({ rails, chains }: OwnTables) {
  const { shape } = Settings;
  return Settings.extend({
    chains: shape.chains.extend(Object.fromEntries(chains.map(({ name, own }) => [name, own]))),
    rails: z.strictObject(Object.fromEntries(rails.map((rail) => [rail.name, z.strictObject(railShape(rail))]))),
  }) as typeof Settings;
}
