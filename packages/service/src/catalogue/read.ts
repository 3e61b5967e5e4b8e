import { z } from "zod";
import type { Endpoint } from "./endpoint.ts";
import { Bundle } from "./schemas/bundles.ts";
import { Checkpoints } from "./schemas/checkpoints.ts";
import { Evidence, EvidencePending, StateProofBytes } from "./schemas/evidence.ts";
import { JwkSet, KeyHistory } from "./schemas/keys.ts";
import { Balance, NetworkParameters, PaymentNetwork } from "./schemas/networks.ts";
import { Base64Url32, Sha256Hex } from "./schemas/primitives.ts";
import { ProblemCodeSchema, ProblemExplanation } from "./schemas/problem.ts";
import { BlockCapabilities, Health, Readiness, Status, Version } from "./schemas/reports.ts";
import { ANY_HELPED, HELPED } from "./sources.ts";

const ANNOTATIONS = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };

const GET = { method: "GET", access: "free", tag: "read", problems: [] } as const;
/** For content that never changes under its name. */
const IMMUTABLE = "public, max-age=31536000, immutable";
const OPERATE = { ...GET, tag: "operate" } as const;
/** For content that changes only when the service restarts. */
export const CACHED = { ...GET, cacheControl: "public, max-age=300" } as const;

/** For content that has another form for browsers: shared caches that ignore Vary would mix the two. */
export const VIEWED = "private, max-age=300";

export const READ = {
  health: {
    ...OPERATE,
    path: "/health",
    summary: "Whether the process is up",
    description: "Always 200.",
    replies: { 200: { description: "The process is up.", schema: Health, example: { status: "pass" } } },
  },
  ready: {
    ...OPERATE,
    path: "/ready",
    summary: "Whether paid calls can be served now, and why not",
    description:
      "200 when connected to algorand-mainnet and able to take paid calls, else 503 with the reasons: the ledger is not reachable, nothing can be sold on any network, or this replica should get no traffic. With 200, the reasons name each network on which nothing can be sold.",
    replies: {
      200: { description: "Ready.", schema: Readiness, example: { status: "pass", reasons: [] } },
      503: {
        description: "Not ready.",
        schema: Readiness,
        example: { status: "fail", reasons: ["algorand-mainnet is not reachable."] },
      },
    },
    tool: { name: "readiness", title: "Check whether paid calls can be served", annotations: ANNOTATIONS },
  },
  status: {
    ...OPERATE,
    path: "/status",
    summary: "What is sold, on which networks, by whom and with which key",
    description:
      "For people and programs: readiness and its reasons, every network that can pay with its price, the source chains, the ledger's last round as it was seen, the current key and the version. Always 200; it asks no upstream.",
    replies: { 200: { description: "The current status.", schema: Status } },
    hasView: true,
  },
  version: {
    ...OPERATE,
    path: "/version",
    summary: "Which version of attestd this is",
    description: "The version of the interface, the commit of the source, and the version of the journal's schema.",
    replies: { 200: { description: "The version.", schema: Version } },
  },
  blockCapabilities: {
    ...CACHED,
    path: "/block-capabilities",
    summary: "What can be attested and proven of the blocks of each chain, and what that does not prove",
    description:
      "For each source chain: what height and headerBase64 mean, which confirmation level is required, which Merkle trees a proof can lead to, what cannot be proven, and what a proof does not prove.",
    replies: { 200: { description: "The capabilities by chain.", schema: BlockCapabilities } },
    tool: { name: "block_capabilities", title: "What can be proven of blocks", annotations: ANNOTATIONS },
  },
  bundle: {
    ...CACHED,
    path: "/bundles/:id",
    summary: "A delivered bundle by the hash of its bytes",
    description:
      "Returns a delivered bundle by its id: base64url SHA-256 of the RFC 8785 JSON of the whole bundle, signature included. For a batch, an item's id returns its BatchItem, and the head's id the whole answer.",
    params: z.object({ id: Base64Url32.describe("The bundle's id, 43 characters of base64url.") }),
    replies: {
      200: {
        description: "The bundle, byte for byte as it was delivered; an item of a batch with its head.",
        schema: Bundle,
      },
    },
    problems: ["not_found", "over_capacity", "journal_unavailable"],
    cacheControl: IMMUTABLE,
    tool: { name: "get_bundle", title: "Fetch a delivered bundle", annotations: ANNOTATIONS },
  },
  evidence: {
    ...GET,
    path: "/bundles/:id/evidence",
    summary: "What shows that the ledger recorded a bundle's attestation, without this service and without a node",
    description:
      "Returns the evidence of a delivered bundle (by the id of a batch item, its head's evidence): the attestation transaction under its block's header, and an Algorand state proof, in which stake signed for that header. 202 while no state proof attests the round, which on MainNet takes some 18 minutes; repeat after `Retry-After`. Afterwards it never changes. On a network without a state proof for the round, the evidence is only the transaction under the header.",
    params: z.object({ id: Base64Url32.describe("The bundle's id, 43 characters of base64url.") }),
    query: z.object({
      detached: z
        .literal("1", "must be 1 or absent")
        .optional()
        .describe("Leaves the state proof out, which `/stateproofs/{sha256}` has: bundles share it."),
      table: z
        .string()
        .regex(/^[1-9]\d{0,14}$/, "must be a number of checkpoints")
        .optional()
        .describe(
          "Adds the path from the checkpoint to the root that this service's table (`/.well-known/algorand-checkpoints.json`) has with so many checkpoints, for verifiers that trust that root. 404 if the checkpoint is not among them.",
        ),
    }),
    replies: {
      200: {
        description:
          "The complete evidence of the attestation; with `Cache-Control: no-cache` while items on the source's own block may come.",
        schema: Evidence,
      },
      202: {
        description: "Not whole yet.",
        schema: EvidencePending,
        headers: ["Retry-After"],
        example: { status: "pending", round: 46581204 },
      },
    },
    problems: ["query_invalid", "not_found", "over_capacity", "journal_unavailable"],
    cacheControl: IMMUTABLE,
    tool: { name: "get_evidence", title: "Fetch the evidence of a delivered bundle", annotations: ANNOTATIONS },
    skill: { id: "get-evidence", name: "Fetch the evidence of a delivered bundle", tags: ["evidence", "free"] },
  },
  stateProof: {
    ...GET,
    path: "/stateproofs/:sha256",
    summary: "A state proof by its hash",
    description: "Returns an Algorand state proof on which evidence rests: canonical msgpack, of this SHA-256.",
    params: z.object({ sha256: Sha256Hex }),
    replies: {
      200: { description: "The state proof.", schema: StateProofBytes, mediaType: "application/msgpack" },
    },
    problems: ["not_found", "journal_unavailable"],
    cacheControl: IMMUTABLE,
  },
  network: {
    ...GET,
    path: "/networks/:network",
    summary: "What a payment on a network must name to be valid now",
    description: `For wallets without a node of their own. ${HELPED.map(({ label, wallets }) => `${label}: ${wallets.about}. `).join("")}Take them from a node that you trust if you have one.`,
    params: z.object({ network: PaymentNetwork }),
    replies: { 200: { description: "As the network's nodes say.", schema: NetworkParameters } },
    problems: ["not_found", "providers_unavailable", "providers_conflict"],
  },
  balance: {
    ...GET,
    path: "/networks/:network/balances/:address",
    summary: "The USDC of an address",
    description: `For wallets without a node of their own, before they pay on ${ANY_HELPED}.`,
    params: z.object({
      network: PaymentNetwork,
      address: z
        .string()
        .regex(/^[0-9A-Za-z]{32,58}$/)
        .describe("An address of the network."),
    }),
    replies: { 200: { description: "As the network's nodes say.", schema: Balance } },
    problems: ["not_found", "over_capacity", "providers_unavailable", "providers_conflict"],
  },
  keys: {
    ...CACHED,
    path: "/.well-known/attestor-keys.json",
    summary: "The history of the attestor's keys",
    description:
      "Every key that has signed bundles here, the rounds in which it is valid, and the ledger that has its note. Keep a copy: with it you can verify bundles offline, without this service.",
    replies: { 200: { description: "The key history.", schema: KeyHistory } },
    tool: { name: "attestor_keys", title: "The attestor's key history", annotations: ANNOTATIONS },
  },
  jwks: {
    ...CACHED,
    path: "/.well-known/jwks.json",
    summary: "The attestor's keys as a JWK Set",
    description: "The public keys of the key history, each as a JSON Web Key of type AKP (RFC 9964).",
    replies: { 200: { description: "The keys.", schema: JwkSet, mediaType: "application/jwk-set+json" } },
  },
  checkpoints: {
    ...GET,
    path: "/.well-known/algorand-checkpoints.json",
    summary: "The checkpoints on which evidence rests: the root of this service's table of them, and the last ones",
    description:
      "A checkpoint commits to the stake that signs Algorand's next state proof. The operator's own walk has verified each by the state proof before it, from the first on. Trust the root, and evidence with a path to it needs no node. 404 where the service has no table.",
    replies: { 200: { description: "The head of the table, and its last checkpoints.", schema: Checkpoints } },
    problems: ["not_found"],
    cacheControl: "public, max-age=60",
  },
  problem: {
    ...CACHED,
    path: "/problems/:code",
    summary: "The meaning of a problem's code",
    description: "What the code of a problem means and what to do about it. The `type` of every problem is this URL.",
    params: z.object({ code: ProblemCodeSchema }),
    replies: { 200: { description: "The explanation.", schema: ProblemExplanation } },
    problems: ["not_found"],
    cacheControl: VIEWED,
    hasView: true,
    tool: { name: "explain_problem", title: "Explain a problem's code", annotations: ANNOTATIONS },
  },
} as const satisfies Record<string, Endpoint>;
