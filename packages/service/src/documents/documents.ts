import type { Catalogue } from "../catalogue/catalogue.ts";
import type { DocumentId } from "../catalogue/documents.ts";
import { agentCard } from "./agent-card.ts";
import { discovery, x402Discovery, x402Manifest } from "./discovery.ts";
import { llms } from "./llms.ts";
import { LOGO } from "./logo.ts";
import { aiCatalog, mcpServerCard } from "./mcp-server-card.ts";
import { openapi } from "./openapi.ts";
import type { Site } from "./site.ts";
import { aiPlugin, apiCatalog, problemIndex, securityTxt } from "./well-known.ts";

export type { Site } from "./site.ts";

/** Every document, each a function of the catalogue and the site. */
const MAKERS: Record<DocumentId, (catalogue: Catalogue, site: Site) => unknown> = {
  openapi,
  discovery,
  x402: x402Discovery,
  x402Manifest,
  agentCard,
  agent: agentCard,
  aiPlugin,
  mcpServerCard,
  mcpCard: mcpServerCard,
  aiCatalog,
  llms,
  problems: problemIndex,
  apiCatalog,
  securityTxt,
  logo: () => LOGO,
};

/** Makes every document, once. @returns its text by the name of its endpoint */
export function createDocuments(catalogue: Catalogue, site: Site): Record<DocumentId, string> {
  const texts = Object.entries(MAKERS).map(([id, make]) => {
    const made = make(catalogue, site);
    return [id, typeof made === "string" ? made : JSON.stringify(made)];
  });
  return Object.fromEntries(texts);
}
