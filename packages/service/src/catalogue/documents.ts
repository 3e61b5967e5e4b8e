import type { z } from "zod";
import type { Endpoint } from "./endpoint.ts";
import { CACHED, VIEWED } from "./read.ts";
import {
  AgentCard,
  AiCatalog,
  ApiCatalog,
  Discovery,
  McpServerCard,
  OpenApi,
  PlainText,
  PluginManifest,
  ProblemIndex,
  X402Discovery,
  X402Manifest,
} from "./schemas/documents.ts";

function document(path: string, summary: string, description: string, schema: z.ZodType, mediaType?: string) {
  return {
    ...CACHED,
    path,
    tag: "documents",
    summary,
    description,
    replies: { 200: { description: "The document.", schema, ...(mediaType !== undefined && { mediaType }) } },
  } as const satisfies Endpoint;
}

/** The documents by which programs and agents find and use the service. */
export const DOCUMENTS = {
  openapi: document(
    "/openapi.json",
    "The OpenAPI 3.1 contract",
    "Every request, response, header and problem, with the x402 terms of each paid operation (x-x402).",
    OpenApi,
  ),
  discovery: document(
    "/discovery",
    "Endpoint catalog and x402 terms",
    "Machine-readable: every endpoint, its access and price, and the ways to pay.",
    Discovery,
  ),
  x402: document(
    "/.well-known/x402",
    "x402 discovery document",
    "Every paid resource with its price, network and the other terms of payment.",
    X402Discovery,
  ),
  x402Manifest: document(
    "/.well-known/x402.json",
    "Service manifest",
    "Links to the OpenAPI, discovery, text index and MCP documents, and to the others.",
    X402Manifest,
  ),
  agentCard: document(
    "/.well-known/agent-card.json",
    "Agent card",
    "The skills of the service and their address (A2A 0.3.0).",
    AgentCard,
  ),
  agent: document(
    "/.well-known/agent.json",
    "Agent card, at its older path",
    "The same as agent-card.json.",
    AgentCard,
  ),
  aiPlugin: document(
    "/.well-known/ai-plugin.json",
    "Plugin manifest",
    "Links to this origin's OpenAPI document.",
    PluginManifest,
  ),
  mcpServerCard: document(
    "/.well-known/mcp/server-card.json",
    "MCP server card",
    "The name and address of the MCP server.",
    McpServerCard,
  ),
  mcpCard: document(
    "/mcp/server-card",
    "MCP server card, next to its endpoint",
    "The same as server-card.json, at the path of SEP-2127.",
    McpServerCard,
    "application/mcp-server-card+json",
  ),
  aiCatalog: document(
    "/.well-known/ai-catalog.json",
    "AI catalog",
    "The address of the MCP server card, for clients that look for a domain's servers.",
    AiCatalog,
    "application/ai-catalog+json",
  ),
  llms: document(
    "/llms.txt",
    "Plain-text index: the endpoints and how to pay",
    "For language models: the paid routes, every way to pay, and links to everything else.",
    PlainText,
    "text/plain; charset=utf-8",
  ),
  problems: {
    ...document(
      "/problems",
      "Every problem's code and its meaning",
      "The list behind `/problems/{code}`.",
      ProblemIndex,
    ),
    cacheControl: VIEWED,
    hasView: true,
  },
  apiCatalog: document(
    "/.well-known/api-catalog",
    "API catalog",
    "Links to the description, the documentation and the status of this API (RFC 9727).",
    ApiCatalog,
    'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
  ),
  securityTxt: document(
    "/.well-known/security.txt",
    "Where to report a vulnerability",
    "RFC 9116.",
    PlainText,
    "text/plain; charset=utf-8",
  ),
  logo: document("/logo.svg", "The logo", "For directories that list the service.", PlainText, "image/svg+xml"),
} as const satisfies Record<string, Endpoint>;

export type DocumentId = keyof typeof DOCUMENTS;
