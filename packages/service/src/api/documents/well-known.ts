import { isIP } from "node:net";
import type { KeyHistory } from "@attestd/proof";
import { jwk } from "@attestd/proof/attestor";
import { fromBase64 } from "@attestd/proof/encoding";
import { NAME, VERSION, X402_A2A_EXTENSION } from "../../catalogue/about.ts";
import type { Catalogue } from "../../catalogue/catalogue.ts";
import { EVERY_CHAIN } from "../../catalogue/sources.ts";
import { PROBLEMS } from "../../lib/problems.ts";
import { introduction, links, type Site } from "./site.ts";

/**
 * `/.well-known/jwks.json` (RFC 7517, RFC 9964): the history's keys, oldest first. Revoked keys are left out, because a
 * key set cannot state that their signatures count only with a record on the ledger.
 */
export function jwks({ keys }: KeyHistory) {
  const valid = keys.filter(({ revokedRound }) => revokedRound === undefined);
  return { keys: valid.map(({ pqPublicKey }) => ({ ...jwk(fromBase64(pqPublicKey)), use: "sig" })) };
}

/** `/.well-known/ai-plugin.json`, version 1 of the manifest. */
export function aiPlugin(_: Catalogue, site: Site) {
  const { openapi, textIndex } = links(site);
  return {
    schema_version: "v1",
    name_for_human: NAME,
    name_for_model: NAME,
    description_for_human: `Post-quantum attestations of ${EVERY_CHAIN} transactions, paid by x402.`,
    description_for_model: `${introduction(site)} Call POST /attest without a payment for the price; POST /verify checks a bundle.`,
    auth: { type: "none" },
    api: { type: "openapi", url: openapi },
    logo_url: `${site.origin}/logo.svg`,
    contact_email: contactEmail(site),
    legal_info_url: textIndex,
  };
}

/** Returns the contact if it is a mail address, else the mailbox that every domain with mail has (RFC 5321, 4.5.1). */
export function contactEmail({ contact, origin }: Site): string {
  return contact.startsWith("mailto:") ? contact.slice("mailto:".length) : `postmaster@${new URL(origin).hostname}`;
}

/** `/.well-known/api-catalog` (RFC 9727): a linkset (RFC 9264) about this origin. */
export function apiCatalog(_: Catalogue, site: Site) {
  const { origin } = site;
  const { openapi, textIndex, discovery, x402, agentCard, mcpServerCard } = links(site);
  const json = (href: string) => ({ href, type: "application/json" });
  return {
    linkset: [
      {
        anchor: origin,
        "service-desc": [json(openapi)],
        "service-doc": [{ href: textIndex, type: "text/plain" }],
        "service-meta": [discovery, x402, agentCard, mcpServerCard].map(json),
        status: [json(`${origin}/ready`)],
      },
    ],
  };
}

const DAY_MS = 86_400_000;
/** Days until it expires: less than a year, as RFC 9116 recommends. */
const SECURITY_TXT_DAYS = 360;

/** `/.well-known/security.txt` (RFC 9116). */
export function securityTxt(_: Catalogue, { contact, origin, today }: Site): string {
  const expires = new Date(Math.floor(today.getTime() / DAY_MS + SECURITY_TXT_DAYS) * DAY_MS);
  return [
    `Contact: ${contact}`,
    `Expires: ${expires.toISOString().replace(".000Z", "Z")}`,
    "Preferred-Languages: en",
    `Canonical: ${origin}/.well-known/security.txt`,
    "",
  ].join("\n");
}

/** `/problems`: every code. */
export function problemIndex() {
  return {
    problems: Object.entries(PROBLEMS).map(([code, [status, title, advice]]) => ({ code, status, title, advice })),
  };
}

/** The supported revisions of MCP, newest first. */
const PROTOCOL_VERSIONS = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"];

/**
 * `<MCP endpoint>/server-card`, and `/.well-known/mcp/server-card.json`: the address of the MCP server. It has the members
 * of SEP-2127's schema, which is still a proposal, and those of earlier proposals.
 */
export function mcpServerCard(catalogue: Catalogue, site: Site) {
  const { mcp, textIndex } = links(site);
  return {
    $schema: "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json",
    name: `${hostOf(site).split(".").reverse().join(".")}/${NAME}`,
    title: NAME,
    version: VERSION,
    // The schema allows at most 100 characters.
    description: `Post-quantum attestations of ${EVERY_CHAIN} transactions, paid by x402; verifying is free.`,
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

/** `/.well-known/ai-catalog.json`: leads clients to the card of a domain's server (SEP-2127). */
export function aiCatalog(_: Catalogue, site: Site) {
  return {
    specVersion: "1.0",
    entries: [
      {
        identifier: `urn:air:${hostOf(site)}:mcp:${NAME}`,
        type: "application/mcp-server-card+json",
        url: `${links(site).mcp}/server-card`,
      },
    ],
  };
}

/** Returns the site's domain; `localhost` for an IP address, which is not a namespace. */
function hostOf({ origin }: Site): string {
  const { hostname } = new URL(origin);
  // URLs enclose IPv6 addresses in brackets.
  return hostname.startsWith("[") || isIP(hostname) !== 0 ? "localhost" : hostname;
}

/** Appended to the endpoint's description, which is about HTTP. */
const HOW_TO_PAY =
  " The answer is a task in input-required, whose status message has x402's PaymentRequired in metadata x402.payment.required. Send a message with that taskId and the signed PaymentPayload, as an object, in metadata x402.payment.payload; with configuration.blocking false, ask tasks/get for the bundle.";

function howToAsk(id: string): string {
  return `Over A2A: message/send with one data part {"skill": "${id}", …}, and the members of the request next to it.`;
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
