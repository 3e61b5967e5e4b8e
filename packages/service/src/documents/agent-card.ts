import { DESCRIPTION, NAME, VERSION, X402_A2A_EXTENSION } from "../catalogue/about.ts";
import type { Catalogue } from "../catalogue.ts";
import { links, type Site } from "./site.ts";

const JSON_MODE = ["application/json"];

/** `/.well-known/agent-card.json` (A2A 0.3.0, AgentCard): a skill for every endpoint that agents may use so. */
export function agentCard(catalogue: Catalogue, site: Site) {
  const { a2a, textIndex } = links(site);
  return {
    protocolVersion: "0.3.0",
    name: NAME,
    description: DESCRIPTION,
    version: VERSION,
    url: a2a,
    preferredTransport: "JSONRPC",
    additionalInterfaces: [{ url: a2a, transport: "JSONRPC" }],
    provider: { organization: NAME, url: site.origin },
    documentationUrl: textIndex,
    iconUrl: `${site.origin}/logo.svg`,
    capabilities: {
      streaming: false,
      pushNotifications: false,
      stateTransitionHistory: false,
      extensions: [
        {
          uri: X402_A2A_EXTENSION,
          description: "Paid skills ask for USDC by x402; verifying is free.",
          required: false,
        },
      ],
    },
    defaultInputModes: JSON_MODE,
    defaultOutputModes: JSON_MODE,
    skills: Object.values(catalogue).flatMap(({ skill, summary, description }) => {
      if (!skill) return [];
      const { id, name, tags, examples } = skill;
      return [
        {
          id,
          name,
          description: `${summary}. ${description}`,
          tags: [...tags],
          ...(examples.length > 0 && { examples: [...examples] }),
          inputModes: JSON_MODE,
          outputModes: JSON_MODE,
        },
      ];
    }),
    supportsAuthenticatedExtendedCard: false,
  };
}
