import { NAME, VERSION } from "../catalogue/about.ts";
import type { Catalogue } from "../catalogue.ts";
import { introduction, links, type Site } from "./site.ts";

/** Revisions of MCP that are answered, newest first. */
const PROTOCOL_VERSIONS = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"];

/** `/.well-known/mcp/server-card.json`: where the MCP server is, and which tools it has. */
export function mcpServerCard(catalogue: Catalogue, site: Site) {
  const { mcp, textIndex } = links(site);
  return {
    name: NAME,
    title: NAME,
    version: VERSION,
    description: introduction(site),
    websiteUrl: site.origin,
    documentationUrl: textIndex,
    serverInfo: { name: NAME, title: NAME, version: VERSION },
    protocolVersion: PROTOCOL_VERSIONS[0],
    transport: { type: "streamable-http", endpoint: mcp },
    remotes: [{ type: "streamable-http", url: mcp, supportedProtocolVersions: PROTOCOL_VERSIONS }],
    capabilities: { tools: {} },
    authentication: { required: false },
    tools: Object.values(catalogue).flatMap(({ tool, description }) =>
      tool ? [{ name: tool.name, title: tool.title, description, annotations: tool.annotations }] : [],
    ),
  };
}
