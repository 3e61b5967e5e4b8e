import { NAME, VERSION } from "../catalogue/about.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import { HEADERS, type HeaderName } from "../catalogue/headers.ts";
import { EVERY_CHAIN } from "../catalogue/sources.ts";
import { componentSchemas, schemaOf } from "./json-schema.ts";
import { operationObject } from "./openapi-operation.ts";
import { uriTemplate } from "./paths.ts";
import { introduction, links, type Site } from "./site.ts";
import { paymentTerms } from "./terms.ts";
import { contactEmail } from "./well-known.ts";

const TAGS = {
  attest: "What is sold: attestations and proofs.",
  verify: "What is checked, for free.",
  read: "What can be looked up.",
  operate: "For whoever runs the service, or chooses a replica.",
  documents: "For programs and agents that look for the service.",
};

/** `/openapi.json`: the contract (OpenAPI 3.1.0). */
export function openapi(catalogue: Catalogue, site: Site) {
  const terms = paymentTerms(site);
  const paths: Record<string, Record<string, unknown>> = {};
  for (const [id, endpoint] of Object.entries(catalogue)) {
    const path = uriTemplate(endpoint.path);
    paths[path] = { ...paths[path], [endpoint.method.toLowerCase()]: operationObject(id, endpoint, terms) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: NAME,
      version: VERSION,
      summary: `Post-quantum attestations of ${EVERY_CHAIN} transactions, paid by x402`,
      description: introduction(site),
      // Read by indexers (x402scan, AgentCash) beside x-payment-info.
      "x-guidance": guidance(site),
      contact: { name: `The operator of ${site.origin}`, url: site.origin, email: contactEmail(site) },
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: site.origin }],
    externalDocs: { description: "The same in plain text, and how to pay.", url: links(site).textIndex },
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    security: [],
    paths,
    components: {
      schemas: componentSchemas(),
      parameters: { "PAYMENT-SIGNATURE": headerParameter("PAYMENT-SIGNATURE") },
      headers: Object.fromEntries(
        Object.entries(HEADERS)
          .filter(([name]) => name !== "PAYMENT-SIGNATURE")
          .map(([name, header]) => [name, { ...header, schema: schemaOf(header.schema) }]),
      ),
    },
  };
}

/** How an agent uses the service, briefly. */
function guidance(site: Site): string {
  return `${introduction(site)} POST /attest with {"txid": …} attests a transaction: without a payment it is answered with 402 and the offers; sign one and repeat the request with PAYMENT-SIGNATURE. POST /verify checks a bundle for free. Only a 402 means that it is safe to sign a new payment. More: ${links(site).textIndex}`;
}

function headerParameter(name: HeaderName) {
  const header = HEADERS[name];
  return { name, in: "header", ...header, schema: schemaOf(header.schema) };
}
