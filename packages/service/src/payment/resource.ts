import type { PaymentPayload } from "@x402/core/types";
import type { Endpoint } from "../catalogue/catalogue.ts";
import { bazaarExtension } from "./bazaar.ts";

/** What is for sale: over HTTP named by the endpoint's URL, over MCP by the tool's. */
export type Resource = {
  url: string;
  description: string;
  /** x402 extensions, by name. */
  extensions?: Readonly<Record<string, unknown>>;
};

/** The resource of a paid endpoint over HTTP. @param origin of the service's links */
export function resourceOf(endpoint: Endpoint, origin: string): Resource {
  const { path, summary } = endpoint;
  return { url: `${origin}${path}`, description: summary, extensions: bazaarExtension(endpoint) };
}

/** A resource as x402 writes it (v2, ResourceInfo). */
export function resourceInfo({ url, description }: Resource): NonNullable<PaymentPayload["resource"]> {
  return { url, description, mimeType: "application/json" };
}
