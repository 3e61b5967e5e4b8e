import { NAME, VERSION } from "../../catalogue/about.ts";
import type { Catalogue } from "../../catalogue/catalogue.ts";
import { SCHEMAS } from "../../catalogue/schemas/registry.ts";
import { introduction, links, paymentTerms, type Site, uriTemplate } from "./site.ts";

/** `/discovery`: the endpoints and the x402 terms. */
export function discovery(catalogue: Catalogue, site: Site) {
  return {
    name: NAME,
    description: introduction(site),
    version: VERSION,
    baseUrl: site.origin,
    endpoints: Object.entries(catalogue).map(([id, endpoint]) => {
      const { method, path, access, summary, description, body, tool } = endpoint;
      const request = body && SCHEMAS.get(body.schema)?.id;
      return {
        id,
        method,
        path: uriTemplate(path),
        url: site.origin + uriTemplate(path),
        access,
        summary,
        description,
        ...(access === "paid" && { priceUsdc: paymentTerms(site, endpoint).priceUsdc }),
        ...(request !== undefined && { requestSchema: `${site.origin}/openapi.json#/components/schemas/${request}` }),
        ...(tool && { tool: tool.name }),
      };
    }),
    x402: paymentTerms(site),
    links: links(site),
  };
}

/** `/.well-known/x402`: every paid resource and its terms. */
export function x402Discovery(catalogue: Catalogue, site: Site) {
  return {
    x402Version: 2,
    name: NAME,
    description: introduction(site),
    resources: Object.values(catalogue)
      .filter(({ access }) => access === "paid")
      .map((endpoint) => ({
        url: site.origin + endpoint.path,
        method: endpoint.method,
        description: endpoint.summary,
        mimeType: "application/json",
        ...paymentTerms(site, endpoint),
      })),
  };
}

/** `/.well-known/x402.json`: links to the other documents. */
export function x402Manifest(_: Catalogue, site: Site) {
  return { x402Version: 2, name: NAME, description: introduction(site), version: VERSION, links: links(site) };
}
