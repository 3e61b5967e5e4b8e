import { DESCRIPTION } from "../catalogue/about.ts";
import type { PaymentOption } from "../payment/payment-option.ts";

/** The settings that documents are drawn from, beside the catalogue. */
export type Site = {
  /** The origin of every absolute link (PUBLIC_URL). */
  origin: string;
  /** Whether nothing here is real. */
  sandbox: boolean;
  /** The whole MCP endpoint. */
  mcpUrl: string;
  /** A URI (mailto: or https:). */
  contact: string;
  /** Every way to pay. */
  options: readonly PaymentOption[];
  /** Those of them that every document lists; the others are in `llms.txt` alone. */
  listed: readonly PaymentOption[];
  /** The chains whose transactions and blocks are attested, and the ways to pay for each. */
  sources: readonly { chain: string; options: readonly PaymentOption[] }[];
  /** How long a payment may stay valid. */
  paymentLifeSeconds: number;
  /** The day on which the documents are made. */
  today: Date;
};

/** What the service does, in sentences. */
export function introduction({ sandbox }: Site): string {
  return sandbox ? `${DESCRIPTION} This one is a sandbox: nothing in it is real.` : DESCRIPTION;
}

/** The addresses of everything, by the names that documents use. */
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
