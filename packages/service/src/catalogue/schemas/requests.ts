import { MAX_BATCH_ITEMS, MIN_BATCH_ITEMS } from "@attestd/proof";
import { z } from "zod";
import { EXPECTED_ID, ofEachChain, REQUEST_ID } from "../sources.ts";
import { Chain } from "./primitives.ts";
import { namedObject } from "./registry.ts";

const TxId = z
  .string("must be a transaction id, as text")
  .regex(REQUEST_ID, EXPECTED_ID)
  .describe(`The id of a confirmed transaction. ${ofEachChain(({ transactionId }) => transactionId.description)}`);

const HEIGHT = "must be a height: an integer from 0 to 2^53 - 1, or its decimal digits";
const Digits = z
  .string()
  .regex(/^(0|[1-9][0-9]{0,15})$/)
  .transform(Number);
const Height = z
  .union([z.int().min(0, HEIGHT), Digits], HEIGHT)
  .refine((height) => Number.isSafeInteger(height) && height >= 0, HEIGHT)
  .describe(
    `The height of a block: an integer below 2^53, or its decimal digits. ${ofEachChain(({ terms }) => terms.height)}`,
  );

const TRANSACTION = { txid: TxId, chain: Chain.optional().describe("When omitted, it is inferred from txid.") };

const Require = z.literal("succeeded").optional();

export const AttestRequest = namedObject("AttestRequest", "The transaction to attest.", {
  ...TRANSACTION,
  require: Require.describe(
    "Refuse a transaction that failed: 409 transaction_failed, and nothing is charged. When omitted, a failed transaction is attested as one that failed. Always met on a chain where none that failed stands in a block.",
  ),
});

export const BatchRequest = namedObject("BatchRequest", "The transactions to attest at once, none of them twice.", {
  items: z
    .array(z.strictObject(TRANSACTION), "must be a list of transactions")
    .min(MIN_BATCH_ITEMS, `must have at least ${MIN_BATCH_ITEMS} items`)
    .max(MAX_BATCH_ITEMS, `must have at most ${MAX_BATCH_ITEMS} items`)
    .describe("They may be of different chains."),
  require: Require.describe("Refuse the batch if a transaction in it failed; as for a single one."),
});

export const BlockRequest = namedObject("BlockRequest", "The block to attest; one block per request.", {
  chain: Chain,
  height: Height,
});

export const InclusionRequest = namedObject("InclusionRequest", "The transaction, and the block that contains it.", {
  chain: Chain,
  txId: TxId,
  height: Height,
});
