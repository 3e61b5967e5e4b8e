import { z } from "zod";

/** Who may call: anyone, or whoever pays. */
export type Access = "free" | "paid";

/** One endpoint, as it is routed, validated and described. */
export type Endpoint = {
  method: "GET" | "POST";
  /** Hono's notation: `:name` is a path parameter. */
  path: string;
  access: Access;
  summary: string;
  body?: { schema: z.ZodType; maxBytes: number };
};

const KIB = 1024;
const PAID_BODY = 64 * KIB;
/** Also the most that a bundle may have, so that whatever we sell can be verified here. */
const VERIFY_BODY = 2048 * KIB;

/** The attest request (interface.md, 2.6). */
export const AttestRequest = z.strictObject({
  txid: z.string("must be a transaction id, as text"),
  chain: z.enum(["algorand", "base"], 'must be "algorand" or "base"').optional(),
});
export type AttestRequest = z.infer<typeof AttestRequest>;

/** The one table of endpoints; routes, documents and tools are drawn from it. */
export const CATALOGUE = {
  health: { method: "GET", path: "/health", access: "free", summary: "Whether the process is up" },
  ready: {
    method: "GET",
    path: "/ready",
    access: "free",
    summary: "Whether paid calls can be served now, and why not",
  },
  attest: {
    method: "POST",
    path: "/attest",
    access: "paid",
    summary: "Attest a confirmed transaction: record its hash on Algorand and return a signed proof bundle",
    body: { schema: AttestRequest, maxBytes: PAID_BODY },
  },
  verify: {
    method: "POST",
    path: "/verify",
    access: "free",
    summary: "Verify a proof bundle; with ?chain=1 also against the chains",
    // The verifier reads the bundle itself: its first check is the schema.
    body: { schema: z.unknown(), maxBytes: VERIFY_BODY },
  },
  bundle: {
    method: "GET",
    path: "/bundles/:id",
    access: "free",
    summary: "A delivered bundle by the hash of its bytes",
  },
  keys: {
    method: "GET",
    path: "/.well-known/attestor-keys.json",
    access: "free",
    summary: "The history of the attestor's keys",
  },
  problem: { method: "GET", path: "/problems/:code", access: "free", summary: "What a problem's code means" },
} as const satisfies Record<string, Endpoint>;

export type EndpointId = keyof typeof CATALOGUE;
