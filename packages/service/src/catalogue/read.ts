import { z } from "zod";
import type { Endpoint, Tool } from "./endpoint.ts";
import { Bundle } from "./schemas/bundles.ts";
import { JwkSet, KeyHistory } from "./schemas/keys.ts";
import { Base64Url32 } from "./schemas/primitives.ts";
import { ProblemCodeSchema, ProblemExplanation } from "./schemas/problem.ts";
import { BlockCapabilities, Health, Readiness } from "./schemas/reports.ts";

const READING: Tool["annotations"] = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

/** Of documents that change only when the service is started again. */
export const DOCUMENT_CACHE = "public, max-age=300";

/** What can be looked up. */
export const READ = {
  health: {
    method: "GET",
    path: "/health",
    access: "free",
    tag: "operate",
    summary: "Whether the process is up",
    description: "Always 200 while the process answers at all.",
    replies: { 200: { description: "The process is up.", schema: Health, example: { status: "pass" } } },
    problems: [],
  },
  ready: {
    method: "GET",
    path: "/ready",
    access: "free",
    tag: "operate",
    summary: "Whether paid calls can be served now, and why not",
    description:
      "200 when connected to algorand-mainnet and able to take paid calls, else 503 with the reasons: the ledger is not reachable, nothing can be sold on any network, or this replica should get no traffic. A network on which nothing can be sold while others are is told of with 200.",
    replies: {
      200: { description: "Ready.", schema: Readiness, example: { status: "pass", reasons: [] } },
      503: {
        description: "Not ready.",
        schema: Readiness,
        example: { status: "fail", reasons: ["algorand-mainnet is not reachable"] },
      },
    },
    problems: [],
    tool: { name: "readiness", title: "See whether paid calls can be served", annotations: READING },
  },
  blockCapabilities: {
    method: "GET",
    path: "/block-capabilities",
    access: "free",
    tag: "read",
    summary: "What can be attested and proven of the blocks of each chain, and what that does not prove",
    description:
      "For each source chain: what height and headerBase64 mean, which confirmation level is required, which Merkle trees a proof can lead to, what cannot be proven, and what a proof does not show.",
    replies: { 200: { description: "The capabilities by chain.", schema: BlockCapabilities } },
    problems: [],
    cacheControl: DOCUMENT_CACHE,
    tool: { name: "block_capabilities", title: "What can be proven of blocks", annotations: READING },
  },
  bundle: {
    method: "GET",
    path: "/bundles/:id",
    access: "free",
    tag: "read",
    summary: "A delivered bundle by the hash of its bytes",
    description:
      "A bundle that was delivered once can be fetched again by its id: base64url SHA-256 of the RFC 8785 JSON of the whole bundle, signature included.",
    params: z.object({ id: Base64Url32.describe("The bundle's id, 43 characters of base64url.") }),
    replies: { 200: { description: "The bundle, byte for byte as it was delivered.", schema: Bundle } },
    problems: ["not_found"],
    cacheControl: "public, max-age=31536000, immutable",
    tool: { name: "get_bundle", title: "Fetch a delivered bundle", annotations: READING },
  },
  keys: {
    method: "GET",
    path: "/.well-known/attestor-keys.json",
    access: "free",
    tag: "read",
    summary: "The history of the attestor's keys",
    description:
      "Every key that has signed bundles here, the rounds for which it speaks, and the ledger on which the notes stand. Keep a copy: with it bundles verify offline, without this service.",
    replies: { 200: { description: "The key history.", schema: KeyHistory } },
    problems: [],
    cacheControl: DOCUMENT_CACHE,
    tool: { name: "attestor_keys", title: "The attestor's key history", annotations: READING },
  },
  jwks: {
    method: "GET",
    path: "/.well-known/jwks.json",
    access: "free",
    tag: "read",
    summary: "The attestor's keys as a JWK Set",
    description: "The public keys of the key history, each as a JSON Web Key of type AKP (RFC 9964).",
    replies: { 200: { description: "The keys.", schema: JwkSet, mediaType: "application/jwk-set+json" } },
    problems: [],
    cacheControl: DOCUMENT_CACHE,
  },
  problem: {
    method: "GET",
    path: "/problems/:code",
    access: "free",
    tag: "read",
    summary: "What a problem's code means",
    description: "What the code of a problem means and what to do about it. The `type` of every problem leads here.",
    params: z.object({ code: ProblemCodeSchema }),
    replies: { 200: { description: "The explanation.", schema: ProblemExplanation } },
    problems: ["not_found"],
    cacheControl: DOCUMENT_CACHE,
    tool: { name: "explain_problem", title: "Explain a problem's code", annotations: READING },
  },
} as const satisfies Record<string, Endpoint>;
