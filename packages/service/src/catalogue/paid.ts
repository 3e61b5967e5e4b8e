import type { z } from "zod";
import type { SourceChainKind } from "../chains/kind.ts";
import { SOURCE_CHAINS } from "../chains/registry.ts";
import type { ProblemCode } from "../problems.ts";
import { type Endpoint, forAgents, type Reply } from "./endpoint.ts";
import { BlockBundle, InclusionBundle, ProofBundle } from "./schemas/bundles.ts";
import { PaymentRequired } from "./schemas/payment.ts";
import { AttestRequest, BlockRequest, InclusionRequest } from "./schemas/requests.ts";
import { ANY_CHAIN, NAMES } from "./sources.ts";

const MAX_BYTES = 64 * 1024;

const HOW_TO_PAY =
  "Paid by x402 version 2, scheme exact: without PAYMENT-SIGNATURE the answer is 402 with the offers in PAYMENT-REQUIRED; sign one of them and repeat the request with PAYMENT-SIGNATURE. The same payment sent again returns the same bytes and is never charged twice. After 503 with retry.sameHeader, repeat with the same PAYMENT-SIGNATURE and sign nothing new.";

/** The problems of every paid endpoint. */
const PROBLEMS = [
  "body_not_json",
  "body_invalid",
  "payment_malformed",
  "payment_without_body",
  "source_wrong_chain",
  "source_too_large",
  "source_not_found",
  "payment_bound_to_other_request",
  "source_not_final",
  "payment_refunded",
  "body_too_large",
  "media_type",
  "settlement_pending",
  "attestation_pending",
  "payment_unaccounted",
  "payment_unknown",
  "providers_unavailable",
  "providers_conflict",
  "facilitator_unavailable",
  "over_capacity",
  "attestor_unfunded",
  "journal_unavailable",
  "disk_low",
  "attestor_key_unusable",
  "signer_unavailable",
  "stopping",
] as const satisfies readonly ProblemCode[];

const PAYMENT_REQUIRED: Reply = {
  description: "The request has no valid payment. The body repeats the header and adds the offers as `options`.",
  schema: PaymentRequired,
  headers: ["PAYMENT-REQUIRED", "PAYMENT-RESPONSE"],
};

const ANNOTATIONS = { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true };

type Sale<S> = {
  path: string;
  summary: string;
  /** Completed by the instructions to pay. */
  description: string;
  request: S;
  requestDescription: string;
  /** The members of a chain's example request, beside `chain`; undefined where the chain has no example. */
  example: (examples: SourceChainKind["examples"]) => object | undefined;
  bundle: z.ZodType;
  /** Beside those of every paid endpoint. */
  problems: readonly ProblemCode[];
  /** For agents. */
  title: string;
  tags: readonly string[];
};

function paid<S extends z.ZodType>(sale: Sale<S>) {
  const examples = SOURCE_CHAINS.flatMap(({ format: { name }, examples }) => {
    const members = sale.example(examples);
    return members ? [[name, { chain: name, ...members }]] : [];
  });
  return {
    method: "POST",
    path: sale.path,
    access: "paid",
    tag: "attest",
    summary: sale.summary,
    description: `${sale.description} ${HOW_TO_PAY}`,
    body: {
      schema: sale.request,
      maxBytes: MAX_BYTES,
      description: sale.requestDescription,
      examples: Object.fromEntries(examples),
    },
    replies: {
      200: { description: "The signed bundle.", schema: sale.bundle, headers: ["PAYMENT-RESPONSE"] },
      402: PAYMENT_REQUIRED,
    },
    problems: [...PROBLEMS, ...sale.problems],
    ...forAgents(sale.path, sale.title, ANNOTATIONS, [...sale.tags, ...NAMES, "post-quantum", "x402"]),
  } as const satisfies Endpoint;
}

export const PAID = {
  attest: paid({
    path: "/attest",
    summary: "Attest a confirmed transaction: record its hash on Algorand and return a signed proof bundle",
    description: `Fetches a confirmed transaction of ${ANY_CHAIN}, records its hash, its block with its time, and its outcome in a zero-value transaction on algorand-mainnet, and returns a ProofBundle signed with ML-DSA-65 (post-quantum), which anyone can verify offline. Each new payment makes a new attestation.`,
    request: AttestRequest,
    requestDescription: "The transaction to attest.",
    example: ({ attest }) => attest,
    bundle: ProofBundle,
    problems: ["source_inner_transaction", "source_not_kept", "transaction_failed"],
    title: "Attest a transaction",
    tags: ["attestation"],
  }),
  attestBlock: paid({
    path: "/attest-block",
    summary: "Attest a block: record its header's hash on Algorand and return a signed block bundle",
    description: `Fetches a finalized block's header of ${ANY_CHAIN}, records its hash in a zero-value transaction on algorand-mainnet, and returns a BlockBundle signed with ML-DSA-65 (post-quantum), which anyone can verify offline. One block per request.`,
    request: BlockRequest,
    requestDescription: "The block to attest.",
    example: ({ block }) => block,
    bundle: BlockBundle,
    problems: ["block_not_found", "source_not_kept"],
    title: "Attest a block",
    tags: ["attestation", "block"],
  }),
  proveInclusion: paid({
    path: "/prove-tx-inclusion",
    summary: "Prove that a transaction is in a block, attest the block, and return a signed inclusion bundle",
    description: `Builds the Merkle proof that leads from a transaction of ${ANY_CHAIN} to its finalized block's header, records the header's hash in a zero-value transaction on algorand-mainnet, and returns an InclusionBundle signed with ML-DSA-65 (post-quantum), which anyone can verify offline.`,
    request: InclusionRequest,
    requestDescription: "The transaction, and the block that contains it.",
    example: ({ inclusion }) => inclusion,
    bundle: InclusionBundle,
    problems: [
      "source_inner_transaction",
      "source_elsewhere",
      "source_unprovable",
      "source_not_kept",
      "block_not_found",
    ],
    title: "Prove that a transaction is in a block",
    tags: ["proof", "inclusion"],
  }),
} as const;
