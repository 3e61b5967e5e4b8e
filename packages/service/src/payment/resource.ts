import type { PaymentPayload } from "@x402/core/types";
import type { Endpoint } from "../catalogue/catalogue.ts";
import { bazaarExtension } from "./bazaar.ts";

/** What is for sale, as the door names it: over HTTP the endpoint's URL, over MCP the tool's. */
export type Resource = {
  url: string;
  description: string;
  /** What x402's extensions say of it. */
  extensions?: Readonly<Record<string, unknown>>;
};

/** A paid endpoint as it is sold over HTTP. @param origin of the service's links */
export function resourceOf(endpoint: Endpoint, origin: string): Resource {
  const { path, summary } = endpoint;
  return { url: `${origin}${path}`, description: summary, extensions: bazaarExtension(endpoint) };
}

/** A resource in x402's own terms (v2, ResourceInfo). */
export function resourceInfo({ url, description }: Resource): NonNullable<PaymentPayload["resource"]> {
  return { url, description, mimeType: "application/json" };
}
