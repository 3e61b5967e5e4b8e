import { z } from "zod";
import { Chain } from "./primitives.ts";
import { named } from "./registry.ts";

const TxId = z
  .string("must be a transaction id, as text")
  .regex(
    /^([A-Z2-7]{52}|0x[0-9a-fA-F]{64})$/,
    "is not a transaction id: 52 base32 characters (Algorand) or 0x and 64 hex (Base)",
  )
  .describe(
    "Id of a confirmed transaction: of Algorand MainNet (52 characters of base32), or a Base transaction hash (0x and 64 hex digits).",
  );
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

/** A round of Algorand or a block number of Base, as a JSON integer or its decimal digits. */
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
  .describe("Round (Algorand) or block number (Base): an integer below 2^53, or its decimal digits.");

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
