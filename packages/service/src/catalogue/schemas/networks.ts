import { z } from "zod";
import { Caip2, SafeInteger } from "./primitives.ts";
import { named, namedObject } from "./registry.ts";

/** A network of an offer. */
export const PaymentNetwork = Caip2.describe("The network of an offer, after CAIP-2.");

export const NetworkParameters = named(
  "NetworkParameters",
  z
    .union([
      z.strictObject({
        network: Caip2,
        genesisId: z.string(),
        genesisHash: z.base64().length(44),
        round: SafeInteger.describe("The last one."),
        minFee: SafeInteger.describe("microAlgos a transaction."),
        feePerByte: SafeInteger.describe("microAlgos; 0 unless the network is congested."),
      }),
      z.strictObject({
        network: Caip2,
        blockhash: z.string().describe("Base58."),
        lastValidBlockHeight: SafeInteger.describe("The last block height at which the blockhash is valid."),
      }),
    ])
    .describe("What a payment must name to be valid now: on Algorand, or on Solana."),
);

export const Balance = namedObject("Balance", "The USDC of an address.", {
  network: Caip2,
  address: z.string(),
  usdc: z
    .string()
    .regex(/^[0-9]{1,20}$/)
    .nullable()
    .describe("micro-USDC; null where the address has no account for USDC (on Algorand: it has not opted in)."),
});
