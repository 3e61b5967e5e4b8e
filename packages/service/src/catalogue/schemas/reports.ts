import { z } from "zod";
import { SOURCE_CHAINS } from "../../chains/registry.ts";
import { NAMES } from "../sources.ts";
import { named } from "./registry.ts";

const CheckResult = z.enum(["pass", "fail", "not_checked"]).optional();
const CHECKS = [
  "schema",
  "keyTrust",
  "signature",
  "hashPreimage",
  "transactionId",
  "blockHash",
  "inclusion",
  "note",
  "chainSource",
  "chainAttest",
] as const;

/** `proof/report.ts`. */
export const VerifyReport = named(
  "VerifyReport",
  z
    .strictObject({
      verified: z.boolean().describe("Every offline check of the type passed, and none failed."),
      type: z.enum(["transaction-attestation", "block-attestation", "tx-inclusion"]),
      checks: z
        .strictObject(Object.fromEntries(CHECKS.map((check) => [check, CheckResult])))
        .describe("The checks of the type, in their order. chainSource and chainAttest are made with chain=1 alone."),
      lightHeader: z.enum(["pass", "not_checked"]).optional(),
      receipt: z
        .strictObject({ status: z.enum(["succeeded", "failed", "unknown"]) })
        .optional()
        .describe("What became of the transaction, by its receipt; where the bundle has one that is proven."),
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
          check: z.enum(CHECKS),
          stated: z.string().optional().describe("What the bundle says."),
          computed: z.string().optional().describe("What its bytes, or the verifier's own knowledge, say instead."),
          pointer: z.string().optional().describe("JSON pointer to what is wrong."),
          message: z.string().optional(),
        }),
      ),
    })
    .describe("What was checked of a bundle, and what came of it."),
);

export const Health = named("Health", z.strictObject({ status: z.literal("pass") }));

export const Readiness = named(
  "Readiness",
  z
    .strictObject({
      status: z.enum(["pass", "fail"]),
      reasons: z.array(z.string()).describe("What cannot be sold now, and why. With `pass` everything else is sold."),
    })
    .describe("Whether paid calls can be served now."),
);

const Text = z.array(z.string());

const BlockCapability = named(
  "BlockCapability",
  z.strictObject({
    height: z.string().describe("What `height` counts."),
    header: z.string().describe("What `headerBase64` holds."),
    blockHash: z.string().describe("How `blockHash` comes from it."),
    levels: z.strictObject({
      known: z.array(z.enum(["included", "safe", "finalized"])),
      required: z.enum(["included", "safe", "finalized"]),
    }),
    inclusion: z.strictObject({
      kind: z.enum(SOURCE_CHAINS.map(({ blocks }) => blocks.inclusion.kind)),
      trees: z.array(z.strictObject({ root: z.string(), of: z.string(), form: z.string(), when: z.string() })),
      optional: z.record(z.string(), z.string()),
      transactionTypes: z.strictObject({ known: Text, others: z.string() }),
      notProvable: Text,
    }),
    doesNotProve: Text,
  }),
);

export const BlockCapabilities = named(
  "BlockCapabilities",
  z
    .strictObject({
      chains: z
        .strictObject(Object.fromEntries(NAMES.map((name) => [name, BlockCapability.optional()])))
        .describe("Those that are configured."),
      limits: z.strictObject({
        blocksPerRequest: z.int(),
        transactionsPerRequest: z.int(),
        bundleBytes: z.int(),
        heights: z.string(),
      }),
      doesNotProve: Text,
    })
    .describe("What can be attested and proven of blocks, and what that does not prove."),
);
