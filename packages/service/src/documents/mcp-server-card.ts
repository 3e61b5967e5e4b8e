import { isIP } from "node:net";
import { NAME, VERSION } from "../catalogue/about.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import { EVERY_CHAIN } from "../catalogue/sources.ts";
import { introduction, links, type Site } from "./site.ts";

/** Revisions of MCP that are answered, newest first. */
const PROTOCOL_VERSIONS = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"];

/** The path and the members of a card are still being standardised (SEP-1649, then SEP-2127). */
const SCHEMA = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json";

/** At most 100 characters by the schema. */
const DESCRIPTION = `Post-quantum attestations of ${EVERY_CHAIN} transactions, paid by x402; verifying is free.`;

/**
 * `<MCP endpoint>/server-card`, and `/.well-known/mcp/server-card.json`: the address of the MCP server. It has the members
 * of SEP-2127's schema, which forbids no others, and those that readers of earlier proposals look for.
 */
export function mcpServerCard(catalogue: Catalogue, site: Site) {
  const { mcp, textIndex } = links(site);
  return {
    $schema: SCHEMA,
    name: `${reversed(site)}/${NAME}`,
    title: NAME,
    version: VERSION,
    description: DESCRIPTION,
    websiteUrl: site.origin,
    icons: [{ src: `${site.origin}/logo.svg`, mimeType: "image/svg+xml" }],
    remotes: [{ type: "streamable-http", url: mcp, supportedProtocolVersions: PROTOCOL_VERSIONS }],
    documentationUrl: textIndex,
    serverInfo: { name: NAME, title: NAME, version: VERSION },
    instructions: introduction(site),
    protocolVersion: PROTOCOL_VERSIONS[0],
    transport: { type: "streamable-http", endpoint: mcp },
    capabilities: { tools: {} },
    authentication: { required: false },
    tools: Object.values(catalogue).flatMap(({ tool, description }) =>
      tool ? [{ name: tool.name, title: tool.title, description, annotations: tool.annotations }] : [],
    ),
  };
}

/** `/.well-known/ai-catalog.json`, in which clients find the card of a domain's server (SEP-2127). */
export function aiCatalog(_: Catalogue, site: Site) {
  const { hostname } = new URL(site.origin);
  return {
    specVersion: "1.0",
    entries: [
      {
        identifier: `urn:air:${isAddress(hostname) ? "localhost" : hostname}:mcp:${NAME}`,
        type: "application/mcp-server-card+json",
        url: `${links(site).mcp}/server-card`,
      },
    ],
  };
}

/** The host as a namespace: its labels in reverse. */
function reversed({ origin }: Site): string {
  const { hostname } = new URL(origin);
  return isAddress(hostname) ? "localhost" : hostname.split(".").reverse().join(".");
}

/** @param hostname of a URL, which has IPv6 addresses in brackets */
function isAddress(hostname: string): boolean {
  return hostname.startsWith("[") || isIP(hostname) !== 0;
}
