import { z } from "zod";
import { HELPED, listed } from "../sources.ts";
import { Caip2 } from "./primitives.ts";
import { named, namedObject } from "./registry.ts";

/** A network of an offer. */
export const PaymentNetwork = Caip2.describe("The network of an offer, after CAIP-2.");

const where = listed(
  "disjunction",
  HELPED.map(({ label }) => `on ${label}`),
);
export const NetworkParameters = named(
  "NetworkParameters",
  z
    .union(HELPED.map(({ wallets }) => z.strictObject({ network: Caip2, ...wallets.parameters })))
    .describe(`What a payment must name to be valid now: ${where}.`),
);

const noAccount = HELPED.flatMap(({ label, wallets }) =>
  wallets.noAccount ? [`on ${label}: ${wallets.noAccount}`] : [],
);
export const Balance = namedObject("Balance", "The USDC of an address.", {
  network: Caip2,
  address: z.string(),
  usdc: z
    .string()
    .regex(/^[0-9]{1,20}$/)
    .nullable()
    .describe(`micro-USDC; null where the address has no account for USDC (${noAccount.join("; ")}).`),
});
