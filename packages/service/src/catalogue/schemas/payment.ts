import { z } from "zod";
import { namedObject } from "./registry.ts";

/** An offer in x402's terms (v2, PaymentRequirements). */
const PaymentRequirements = namedObject("PaymentRequirements", "One way to pay, in the terms of x402 version 2.", {
  scheme: z.literal("exact"),
  network: z.string().describe("The network's name in x402, after CAIP-2."),
  asset: z.string().describe("USDC: ASA id, contract address, or mint."),
  amount: z
    .string()
    .regex(/^[0-9]+$/)
    .describe("micro-USDC."),
  payTo: z.string(),
  maxTimeoutSeconds: z.int().min(1),
  extra: z.record(z.string(), z.unknown()).describe("What the scheme needs on this network, such as a fee payer."),
});

export const PaymentOption = namedObject("PaymentOption", "One advertised way to pay.", {
  scheme: z.string(),
  network: z.string(),
  asset: z.string(),
  payTo: z.string(),
  maxAmountRequired: z.string().describe("micro-USDC."),
  priceUsdc: z.string().describe("The same in USDC."),
  facilitatorUrl: z.string(),
});

/** The body of a 402: x402's PaymentRequired, and the same offers in the discovery document's fields. */
export const PaymentRequired = namedObject(
  "PaymentRequired",
  "The price and the ways to pay it. It is safe to sign a new payment, unless `error` says that yours may still be taken.",
  {
    x402Version: z.literal(2),
    error: z.string().optional().describe("Why the payment of the request was not accepted."),
    resource: z.strictObject({ url: z.string(), description: z.string(), mimeType: z.string() }),
    accepts: z.array(PaymentRequirements).describe("Sign exactly one of these."),
    extensions: z.record(z.string(), z.unknown()),
    options: z.array(PaymentOption).optional().describe("The same offers in the fields of the discovery document."),
  },
);
