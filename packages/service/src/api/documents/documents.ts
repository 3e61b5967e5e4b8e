import type { Catalogue } from "../../catalogue/catalogue.ts";
import type { DocumentId } from "../../catalogue/documents.ts";
import type { DocumentOperation } from "../endpoints/operations.ts";
import { discovery, x402Discovery, x402Manifest } from "./discovery.ts";
import { llms } from "./llms.ts";
import { openapi } from "./openapi.ts";
import type { Site } from "./site.ts";
import { agentCard, aiCatalog, aiPlugin, apiCatalog, mcpServerCard, problemIndex, securityTxt } from "./well-known.ts";

/** `/logo.svg`: a sheet with a seal. */
const LOGO =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" role="img" aria-label="attestd"><rect x="12" y="6" width="40" height="52" rx="4" fill="#fff" stroke="#1b2a41" stroke-width="4"/><path d="M20 20h24M20 29h24" stroke="#1b2a41" stroke-width="4" stroke-linecap="round"/><circle cx="40" cy="45" r="11" fill="#0b7a53"/><path d="m35 45 4 4 7-8" fill="none" stroke="#fff" stroke-width="3.5" stroke-linecap="round" stroke-linejoin="round"/></svg>';

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

/**
 * Returns every document, by its endpoint's name. Each is made when it is first requested, so that a start does not
 * wait.
 */
export function createDocuments(catalogue: Catalogue, site: Site): Record<DocumentId, DocumentOperation> {
  const texts = Object.entries(MAKERS).map(([id, make]) => {
    let text: string | undefined;
    const draw = () => {
      const made = make(catalogue, site);
      return typeof made === "string" ? made : JSON.stringify(made);
    };
    return [id, { kind: "document", text: () => (text ??= draw()) }];
  });
  return Object.fromEntries(texts);
}
