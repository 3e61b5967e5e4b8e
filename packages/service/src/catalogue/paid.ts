import { MAX_BATCH_ITEMS, MIN_BATCH_ITEMS } from "@attestd/proof";
import type { z } from "zod";
import type { SourceChainKind } from "../chains/chain-kind.ts";
import { SOURCE_CHAINS } from "../chains/registry.ts";
import type { ProblemCode } from "../lib/problems.ts";
import { type Endpoint, forAgents, type Reply } from "./endpoint.ts";
import { BatchAnswer, BatchItem, BlockBundle, InclusionBundle, ProofBundle } from "./schemas/bundles.ts";
import { PaymentRequired } from "./schemas/payment.ts";
import { AttestRequest, BatchRequest, BlockRequest, InclusionRequest } from "./schemas/requests.ts";
import { ANY_CHAIN, EVERY_CHAIN, NAMES } from "./sources.ts";

const MAX_BYTES = 64 * 1024;
/** Room for a thousand items with their chains, spelled as indented JSON. */
const MAX_BATCH_BYTES = 256 * 1024;

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
  "clock_wrong",
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

type Product<S> = {
  path: string;
  isBatch?: true;
  summary: string;
  /** The instructions to pay are appended. */
  description: string;
  request: S;
  requestDescription: string;
  /**
   * The members of a chain's example request, without `chain`, and for a batch of one item; undefined if the chain has
   * no example.
   */
  example: (examples: SourceChainKind["examples"]) => object | undefined;
  bundle: z.ZodType;
  /** Further properties of the answer. */
  reply?: Partial<Reply>;
  /** Besides the problems of every paid endpoint. */
  problems: readonly ProblemCode[];
  /** For agents. */
  title: string;
  tags: readonly string[];
};

function paid<S extends z.ZodType>(sale: Product<S>) {
  const members = SOURCE_CHAINS.flatMap(({ format: { name }, examples }) => {
    const own = sale.example(examples);
    return own ? [[name, sale.isBatch ? own : { chain: name, ...own }] as const] : [];
  });
  const examples = sale.isBatch ? [["mixed", { items: members.map(([, item]) => item) }]] : members;
  return {
    method: "POST",
    path: sale.path,
    access: "paid",
    ...(sale.isBatch && { isBatch: true }),
    tag: "attest",
    summary: sale.summary,
    description: `${sale.description} ${HOW_TO_PAY}`,
    body: {
      schema: sale.request,
      maxBytes: sale.isBatch ? MAX_BATCH_BYTES : MAX_BYTES,
      description: sale.requestDescription,
      examples: Object.fromEntries(examples),
    },
    replies: {
      200: { description: "The signed bundle.", schema: sale.bundle, ...sale.reply, headers: ["PAYMENT-RESPONSE"] },
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
  attestBatch: paid({
    path: "/attest-batch",
    isBatch: true,
    summary:
      "Attest many transactions for one payment: record one hash of them all, and return a signed proof for each",
    description: `Fetches up to ${MAX_BATCH_ITEMS} confirmed transactions of ${EVERY_CHAIN}, which may be mixed, makes a Merkle tree (RFC 9162) of its statements about them, records the tree's root in one zero-value transaction on algorand-mainnet, and returns the head, signed with ML-DSA-65 (post-quantum), with a proof for each item. Each item with the head is a bundle of its own (type batch-item), which anyone can verify offline and which reveals nothing about the others; \`GET /bundles/{S}\` has it by its id, and Accept: application/x-ndjson gives one a line. All or nothing: if any item cannot be attested, every such item is named in \`items\`, and nothing is charged. The transactions of a batch of n may have 256 KiB and n times 4 KiB in all: the largest are attested alone. The price is that of a call and a further amount for each item, as the 402 explains; without a body the 402 has the price of ${MIN_BATCH_ITEMS} items. Without a payment, a long list is priced by its ids and not checked: its faults are reported when the payment comes, and nothing is charged. Reading a large batch may take longer than a request: after 503 source_reading repeat the same request.`,
    request: BatchRequest,
    requestDescription: "The transactions to attest.",
    example: ({ attest }) => attest,
    bundle: BatchAnswer,
    reply: {
      description: "The signed head, and every item in the order of the request; as lines, each item with the head.",
      alternative: { mediaType: "application/x-ndjson", schema: BatchItem },
    },
    problems: ["source_inner_transaction", "source_not_kept", "transaction_failed", "source_reading"],
    title: "Attest many transactions",
    tags: ["attestation", "batch"],
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
