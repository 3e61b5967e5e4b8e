import { z } from "zod";
import { PaymentOption } from "./payment.ts";
import { ProblemExplanation } from "./problem.ts";
import { namedObject } from "./registry.ts";

/* Documents whose form others define: the members that the service promises are required, and more are allowed. */

const Link = z.url();

/** The terms of a paid operation. */
export const PaymentTerms = namedObject("PaymentTerms", "The price of a paid call, and how to pay it by x402.", {
  version: z.literal(2).describe("Of x402."),
  ...PaymentOption.shape,
  headers: z.array(z.string()).length(3).describe("The three headers of a payment."),
  accepts: z.array(PaymentOption).min(1).describe("Every advertised option; the members above are the first."),
});

const Links = z.record(z.string(), Link).describe("Other documents and transports, by name.");
const ABOUT = { name: z.string(), description: z.string() };

export const Discovery = namedObject("Discovery", "The endpoints, their prices, and links to the other documents.", {
  ...ABOUT,
  version: z.string(),
  baseUrl: Link,
  endpoints: z.array(
    z.strictObject({
      id: z.string(),
      method: z.enum(["GET", "POST"]),
      path: z.string().describe("An RFC 6570 template where it has parameters."),
      url: z.string(),
      access: z.enum(["free", "paid"]),
      summary: z.string(),
      description: z.string(),
      priceUsdc: z.string().optional(),
      requestSchema: Link.optional().describe("In the OpenAPI document."),
      tool: z.string().optional().describe("The same over MCP."),
    }),
  ),
  x402: PaymentTerms,
  links: Links,
});

const PaidResource = z.strictObject({
  url: Link,
  method: z.literal("POST"),
  description: z.string(),
  mimeType: z.string(),
  ...PaymentTerms.shape,
});

export const X402Discovery = namedObject("X402Discovery", "Every paid resource and its terms.", {
  x402Version: z.literal(2),
  ...ABOUT,
  resources: z.array(PaidResource),
});

export const X402Manifest = namedObject("X402Manifest", "Links to the documents of the service.", {
  x402Version: z.literal(2),
  ...ABOUT,
  version: z.string(),
  links: Links,
});

export const OpenApi = z.looseObject({
  openapi: z.literal("3.1.0"),
  info: z.looseObject({ title: z.string(), version: z.string() }),
  paths: z.record(z.string(), z.unknown()),
});

export const AgentCard = z.looseObject({
  protocolVersion: z.literal("0.3.0"),
  name: z.string(),
  description: z.string(),
  url: Link,
  preferredTransport: z.literal("JSONRPC"),
  version: z.string(),
  capabilities: z.looseObject({}),
  defaultInputModes: z.array(z.string()),
  defaultOutputModes: z.array(z.string()),
  skills: z.array(
    z.looseObject({ id: z.string(), name: z.string(), description: z.string(), tags: z.array(z.string()) }),
  ),
});

export const PluginManifest = z.looseObject({
  schema_version: z.literal("v1"),
  name_for_human: z.string().max(20),
  name_for_model: z.string().regex(/^[a-z_]{1,50}$/),
  description_for_human: z.string().max(100),
  description_for_model: z.string().max(8000),
  auth: z.strictObject({ type: z.literal("none") }),
  api: z.strictObject({ type: z.literal("openapi"), url: Link }),
  logo_url: Link,
  contact_email: z.string(),
  legal_info_url: Link,
});

export const AiCatalog = z.looseObject({
  specVersion: z.string(),
  entries: z.array(z.looseObject({ identifier: z.string(), type: z.string(), url: Link })).min(1),
});

export const McpServerCard = z.looseObject({
  $schema: Link,
  name: z.string().regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
  version: z.string(),
  description: z.string().max(100),
  remotes: z.array(z.looseObject({ type: z.literal("streamable-http"), url: Link })).min(1),
});

export const ApiCatalog = z.looseObject({ linkset: z.array(z.looseObject({ anchor: Link })).min(1) });

export const ProblemIndex = namedObject("ProblemIndex", "Every code, by status.", {
  problems: z.array(ProblemExplanation),
});

export const PlainText = z.string();
