import { MIN_BATCH_ITEMS } from "@attestd/proof";
import { formatUsdc } from "@attestd/proof/rails";
import type { z } from "zod";
import { DESCRIPTION } from "../../catalogue/about.ts";
import type { Endpoint } from "../../catalogue/endpoint.ts";
import type { PaymentTerms } from "../../catalogue/schemas/documents.ts";
import type { Config } from "../../config/config.ts";
import type { Offers } from "../../payment/offers.ts";
import type { PaymentOption } from "../../payment/payment-option.ts";
import { ANY_SALE, type Sale, saleOn } from "../../payment/sale.ts";

/** The content of documents besides the catalogue. */
export type Site = {
  /** The origin of every absolute link (public_url). */
  origin: string;
  /** Whether this is a sandbox, in which nothing is real. */
  sandbox: boolean;
  /** The URL of the MCP endpoint. */
  mcpUrl: string;
  /** A URI (mailto: or https:). */
  contact: string;
  /** Every way to pay. */
  options: readonly PaymentOption[];
  /** The ways to pay that every document lists; only `llms.txt` has the others. */
  listed: readonly PaymentOption[];
  batch: {
    /** What each item adds to a call's price, in USDC. */
    itemUsdc: string;
    maxItems: number;
    /** The ways to pay for the smallest batch and for the largest one, as listed in every document. */
    smallest: readonly PaymentOption[];
    largest: readonly PaymentOption[];
  };
  /** The chains whose transactions and blocks are attested, and the ways to pay for each. */
  sources: readonly { chain: string; options: readonly PaymentOption[] }[];
  /** How long a payment may stay valid, in seconds. */
  paymentLifeSeconds: number;
  /** The day on which the documents are made. */
  today: Date;
};

export function siteOf(config: Config, origin: string, offers: Offers, chains: Sale["chains"]): Site {
  return {
    origin,
    sandbox: config.sandbox,
    mcpUrl: `${config.mcpUrl ?? origin}/mcp`,
    // Every domain that accepts mail has this mailbox (RFC 5321, 4.5.1).
    contact: config.contact ?? `mailto:postmaster@${new URL(origin).hostname}`,
    options: offers.termsFor(ANY_SALE),
    listed: offers.listedFor(ANY_SALE),
    batch: {
      itemUsdc: formatUsdc(config.batch.itemPrice),
      maxItems: config.batch.maxItems,
      smallest: offers.listedFor({ ...ANY_SALE, items: MIN_BATCH_ITEMS }),
      largest: offers.listedFor({ ...ANY_SALE, items: config.batch.maxItems }),
    },
    sources: chains.map((chain) => ({ chain, options: offers.termsFor(saleOn(chain)) })),
    paymentLifeSeconds: config.maxLifeSeconds,
    today: new Date(),
  };
}

/** Returns the description of the service. */
export function introduction({ sandbox }: Site): string {
  return sandbox ? `${DESCRIPTION} This one is a sandbox: nothing in it is real.` : DESCRIPTION;
}

/** Returns the addresses of documents and transports, by their names in documents. */
export function links({ origin, mcpUrl }: Site) {
  return {
    openapi: `${origin}/openapi.json`,
    discovery: `${origin}/discovery`,
    textIndex: `${origin}/llms.txt`,
    mcp: mcpUrl,
    mcpServerCard: `${origin}/.well-known/mcp/server-card.json`,
    x402: `${origin}/.well-known/x402`,
    agentCard: `${origin}/.well-known/agent-card.json`,
    a2a: `${origin}/a2a`,
    attestorKeys: `${origin}/.well-known/attestor-keys.json`,
    jwks: `${origin}/.well-known/jwks.json`,
    problems: `${origin}/problems`,
  };
}

/**
 * Converts a catalogue path (`/bundles/:id`) to the form of documents (`/bundles/{id}`; RFC 6570, and OpenAPI's paths).
 */
export function uriTemplate(path: string): string {
  return path.replaceAll(/:(\w+)/g, "{$1}");
}

/**
 * Returns the terms of a paid operation, the same in every document but `llms.txt`. For batches these are the terms of
 * the smallest.
 */
export function paymentTerms(
  { listed, batch }: Site,
  { isBatch = false }: Pick<Endpoint, "isBatch"> = {},
): z.infer<typeof PaymentTerms> {
  const accepts = isBatch ? batch.smallest : listed;
  const [first] = accepts;
  if (!first) throw new Error("there is no way to pay");
  return {
    version: 2,
    ...first,
    headers: ["PAYMENT-REQUIRED", "PAYMENT-SIGNATURE", "PAYMENT-RESPONSE"],
    accepts: [...accepts],
  };
}
