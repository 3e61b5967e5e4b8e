import { NAME, VERSION, X402_A2A_EXTENSION } from "../catalogue/about.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import { introduction, links, type Site } from "./site.ts";

/** Follows the endpoint's description, which is about HTTP. */
const HOW_TO_PAY =
  " The answer is a task in input-required, whose status message has x402's PaymentRequired in metadata x402.payment.required. Send a message with that taskId and the signed PaymentPayload, as an object, in metadata x402.payment.payload; with configuration.blocking false, ask tasks/get for the bundle.";

function howToAsk(id: string): string {
  return `Over A2A: message/send with one data part {"skill": "${id}", …}, the members of the request beside it.`;
}

const JSON_MODE = ["application/json"];

/** `/.well-known/agent-card.json` (A2A 0.3.0, AgentCard): a skill for every endpoint that has one. */
export function agentCard(catalogue: Catalogue, site: Site) {
  const { a2a, textIndex } = links(site);
  return {
    protocolVersion: "0.3.0",
    name: NAME,
    description: introduction(site),
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
          description: "Paid skills cost USDC by x402; verifying is free.",
          required: false,
        },
      ],
    },
    defaultInputModes: JSON_MODE,
    defaultOutputModes: JSON_MODE,
    skills: Object.values(catalogue).flatMap(({ skill, summary, description, access, body }) => {
      if (!skill) return [];
      const { id, name, tags } = skill;
      const examples = Object.values(body?.examples ?? {}).map((example) =>
        JSON.stringify({ skill: id, ...Object(example) }),
      );
      return [
        {
          id,
          name,
          description: `${summary}. ${description} ${howToAsk(id)}${access === "paid" ? HOW_TO_PAY : ""}`,
          tags: [...tags],
          ...(examples.length > 0 && { examples }),
          inputModes: JSON_MODE,
          outputModes: JSON_MODE,
        },
      ];
    }),
    supportsAuthenticatedExtendedCard: false,
  };
}
