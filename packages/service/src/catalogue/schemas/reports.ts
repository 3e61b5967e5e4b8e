import { CHECK_NAMES } from "@attestd/proof";
import { z } from "zod";
import { SOURCE_CHAINS } from "../../chains/registry.ts";
import { NAME } from "../about.ts";
import { NAMES } from "../sources.ts";
import { named, namedObject } from "./registry.ts";

const CheckResult = z.enum(["pass", "fail", "not_checked"]).optional();

/** In agreement with `proof/report.ts`. */
export const VerifyReport = namedObject("VerifyReport", "The result of verifying a bundle.", {
  verified: z.boolean().describe("Every offline check of the type passed, and none failed."),
  type: z.enum(["transaction-attestation", "block-attestation", "tx-inclusion", "batch-item"]),
  checks: z
    .strictObject(Object.fromEntries(CHECK_NAMES.map((check) => [check, CheckResult])))
    .describe("The checks of the type, in their order. chainSource and chainAttest are made with chain=1 alone."),
  lightHeader: z.enum(["pass", "not_checked"]).optional(),
  statement: z
    .strictObject({
      block: z.strictObject({ hash: z.string(), height: z.int().min(0), time: z.int().min(0) }),
      outcome: z.enum(["succeeded", "failed", "not_applicable"]),
    })
    .optional()
    .describe(
      "What is stated of a transaction, by its note or as an item of a batch: hash, height and time (Unix seconds) of its block, and its outcome there.",
    ),
  receipt: z
    .strictObject({ status: z.enum(["succeeded", "failed", "unknown"]) })
    .optional()
    .describe("How the transaction ended, by its receipt; only where the bundle proves the receipt."),
  recordedAt: z.iso
    .datetime()
    .optional()
    .describe("When the ledger recorded it, by the ledger's own clock; only where chainAttest passed."),
  attestor: z
    .strictObject({
      kid: z.string().optional(),
      status: z.enum(["current", "retired", "revoked", "unknown"]),
      algorandAddress: z.string().optional(),
    })
    .describe("Who signed it, as far as the bundle could be read."),
  warnings: z.array(z.enum(["sandbox", "included_only", "transaction_failed", "history_old"])),
  failures: z.array(
    z.strictObject({
      check: z.enum(CHECK_NAMES),
      stated: z.string().optional().describe("The value in the bundle."),
      computed: z.string().optional().describe("The value by the bundle's bytes, or by what the verifier knows."),
      pointer: z.string().optional().describe("JSON pointer to the fault."),
      message: z.string().optional(),
    }),
  ),
});

export const Health = named("Health", z.strictObject({ status: z.literal("pass") }));

export const Readiness = namedObject("Readiness", "Whether paid calls can be served now.", {
  status: z.enum(["pass", "fail"]),
  reasons: z.array(z.string()).describe("What cannot be sold now, and why. With `pass` everything else is sold."),
});

export const Version = namedObject("Version", "Which attestd this is.", {
  name: z.literal(NAME),
  version: z.string().describe("Of the interface."),
  revision: z
    .string()
    .regex(/^[0-9a-f]{40}$/)
    .optional()
    .describe("The commit of its source, where it is known."),
  schema: z.int().describe("The version of its journal's schema."),
});

export const Status = namedObject("Status", "The current status of the service.", {
  ...Readiness.shape,
  version: z.string().describe("Of the interface."),
  origin: z.url(),
  sandbox: z.boolean().describe("Whether nothing here is real."),
  contact: z.string().optional().describe("The operator's mailto: or https: URI, if one is configured."),
  attestor: z
    .strictObject({ kid: z.string(), algorandAddress: z.string(), fromRound: z.int() })
    .describe("The current key, its account, and its first round."),
  ledger: z
    .strictObject({ network: z.string().describe("CAIP-2."), round: z.int(), seenAt: z.iso.datetime() })
    .describe("Where attestations are recorded, its last round as seen here, and when it was seen."),
  chains: z
    .array(z.strictObject({ chain: z.enum(NAMES), networks: z.array(z.string()) }))
    .describe("What is attested, and the networks that can pay for it."),
  networks: z
    .array(
      z.strictObject({
        network: z.string(),
        priceUsdc: z.string(),
        obstacle: z.string().optional().describe("Why nothing is sold on it now."),
      }),
    )
    .describe("Every network that can pay."),
});

const Level = z.enum(["included", "safe", "finalized"]);
const Texts = z.array(z.string());

const BlockCapability = namedObject("BlockCapability", "What can be attested and proven of one chain's blocks.", {
  height: z.string().describe("What `height` counts."),
  header: z.string().describe("What `headerBase64` contains."),
  blockHash: z.string().describe("How `blockHash` follows from it."),
  levels: z.strictObject({ known: z.array(Level), required: Level }),
  inclusion: z.strictObject({
    kind: z.enum(SOURCE_CHAINS.map(({ blocks }) => blocks.inclusion.kind)),
    trees: z.array(z.strictObject({ root: z.string(), of: z.string(), form: z.string(), when: z.string() })),
    optional: z.record(z.string(), z.string()),
    transactionTypes: z.strictObject({ known: Texts, others: z.string() }),
    notProvable: Texts,
  }),
  doesNotProve: Texts,
});

export const BlockCapabilities = namedObject(
  "BlockCapabilities",
  "What can be attested and proven of blocks, and what that does not prove.",
  {
    chains: z
      .strictObject(Object.fromEntries(NAMES.map((name) => [name, BlockCapability.optional()])))
      .describe("The configured ones."),
    limits: z.strictObject({
      blocksPerRequest: z.int(),
      transactionsPerRequest: z.int(),
      bundleBytes: z.int(),
      heights: z.string(),
    }),
    doesNotProve: Texts,
  },
);
