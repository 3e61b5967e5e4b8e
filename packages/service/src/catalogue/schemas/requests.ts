import { z } from "zod";
import { EXPECTED_ID, ofEachChain, REQUEST_ID } from "../sources.ts";
import { Chain } from "./primitives.ts";
import { named } from "./registry.ts";

const TxId = z
  .string("must be a transaction id, as text")
  .regex(REQUEST_ID, EXPECTED_ID)
  .describe(`The id of a confirmed transaction. ${ofEachChain(({ transactionId }) => transactionId.description)}`);
const HEIGHT = "must be a height: an integer from 0 to 2^53 - 1, or its decimal digits";

export const AttestRequest = named(
  "AttestRequest",
  z
    .strictObject({
      txid: TxId,
      chain: Chain.optional().describe("When omitted, it is inferred from txid."),
    })
    .describe("The transaction to attest."),
);

const Height = z
  .union(
    [
      z.int().min(0, HEIGHT),
      z
        .string()
        .regex(/^(0|[1-9][0-9]{0,15})$/)
        .transform(Number),
    ],
    HEIGHT,
  )
  .refine((height) => Number.isSafeInteger(height) && height >= 0, HEIGHT)
  .describe(
    `The height of a block: an integer below 2^53, or its decimal digits. ${ofEachChain(({ terms }) => terms.height)}`,
  );

export const BlockRequest = named(
  "BlockRequest",
  z.strictObject({ chain: Chain, height: Height }).describe("The block to attest; one block per request."),
);

export const InclusionRequest = named(
  "InclusionRequest",
  z
    .strictObject({
      chain: Chain,
      txId: TxId,
      height: Height,
    })
    .describe("The transaction, and the block that holds it."),
);
