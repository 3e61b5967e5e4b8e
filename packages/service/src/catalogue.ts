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

const Chain = z.enum(["algorand", "base"], 'must be "algorand" or "base"');
const HEIGHT = "must be a height: an integer from 0 to 2^53 - 1, or its decimal digits";

/** The attest request (interface.md, 2.6). */
export const AttestRequest = z.strictObject({
  txid: z.string("must be a transaction id, as text"),
  chain: Chain.optional(),
});
export type AttestRequest = z.infer<typeof AttestRequest>;

/** A round of Algorand or a block number of Base, as a JSON integer or its decimal digits. */
const Height = z
  .union(
    [
      z.int(),
      z
        .string()
        .regex(/^(0|[1-9][0-9]{0,15})$/)
        .transform(Number),
    ],
    HEIGHT,
  )
  .refine((height) => Number.isSafeInteger(height) && height >= 0, HEIGHT);

/** The request to attest a block (interface.md, 4.4). */
export const BlockRequest = z.strictObject({ chain: Chain, height: Height });
export type BlockRequest = z.infer<typeof BlockRequest>;

/** The request to prove that a transaction is in a block (interface.md, 4.4). */
export const InclusionRequest = z.strictObject({
  chain: Chain,
  txId: z.string("must be a transaction id, as text"),
  height: Height,
});
export type InclusionRequest = z.infer<typeof InclusionRequest>;

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
  attestBlock: {
    method: "POST",
    path: "/attest-block",
    access: "paid",
    summary: "Attest a block: record its header's hash on Algorand and return a signed block bundle",
    body: { schema: BlockRequest, maxBytes: PAID_BODY },
  },
  verifyBlock: {
    method: "POST",
    path: "/verify-block",
    access: "free",
    summary: "Verify a block bundle; with ?chain=1 also against the chains",
    body: { schema: z.unknown(), maxBytes: VERIFY_BODY },
  },
  proveInclusion: {
    method: "POST",
    path: "/prove-tx-inclusion",
    access: "paid",
    summary: "Prove that a transaction is in a block, attest the block, and return a signed inclusion bundle",
    body: { schema: InclusionRequest, maxBytes: PAID_BODY },
  },
  verifyInclusion: {
    method: "POST",
    path: "/verify-tx-inclusion",
    access: "free",
    summary: "Verify an inclusion bundle; with ?chain=1 also against the chains",
    body: { schema: z.unknown(), maxBytes: VERIFY_BODY },
  },
  blockCapabilities: {
    method: "GET",
    path: "/block-capabilities",
    access: "free",
    summary: "What can be attested and proven of the blocks of each chain, and what that does not prove",
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
