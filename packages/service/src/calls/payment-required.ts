import type { PaymentRequired as X402PaymentRequired } from "@x402/core/types";
import type { PaymentRequired } from "./outcome.ts";

/** What is for sale, as the door names it: over HTTP the endpoint's URL, over MCP the tool's. */
export type Resource = {
  url: string;
  description: string;
  /** What x402's extensions say of it. */
  extensions?: Readonly<Record<string, unknown>>;
};

/** A demand for payment in x402's own terms (v2, PaymentRequired), the same on every transport. */
export function x402PaymentRequired(
  { error, accepts, extensions }: PaymentRequired,
  { url, description, extensions: ofResource }: Resource,
): X402PaymentRequired {
  return {
    x402Version: 2,
    ...(error !== undefined && { error }),
    resource: { url, description, mimeType: "application/json" },
    accepts,
    extensions: { ...extensions, ...ofResource },
  };
}
