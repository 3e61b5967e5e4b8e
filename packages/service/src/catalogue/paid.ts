import type { SourceChainKind } from "../chains/kind.ts";
import { SOURCE_CHAINS } from "../chains/registry.ts";
import type { ProblemCode } from "../problems.ts";
import type { Endpoint, Reply, Tool } from "./endpoint.ts";
import { BlockBundle, InclusionBundle, ProofBundle } from "./schemas/bundles.ts";
import { PaymentRequired } from "./schemas/payment.ts";
import { AttestRequest, BlockRequest, InclusionRequest } from "./schemas/requests.ts";
import { ANY_CHAIN, NAMES } from "./sources.ts";

const MAX_BYTES = 64 * 1024;

const HOW_TO_PAY =
  "Paid by x402 version 2, scheme exact: without PAYMENT-SIGNATURE the answer is 402 with the offers in PAYMENT-REQUIRED; sign one of them and repeat the request with PAYMENT-SIGNATURE. The same payment sent again brings the same bytes again, never a second charge. After 503 with retry.sameHeader, repeat with the same PAYMENT-SIGNATURE and sign nothing new.";

/** What any paid endpoint may answer with before and after it has charged. */
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
  "disk_low",
  "attestor_key_unusable",
  "stopping",
] as const satisfies readonly ProblemCode[];

const PAYMENT_REQUIRED: Reply = {
  description: "No valid payment came with the request. The body repeats the header and adds the offers as `options`.",
  schema: PaymentRequired,
  headers: ["PAYMENT-REQUIRED", "PAYMENT-RESPONSE"],
};

const ANNOTATIONS: Tool["annotations"] = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: true,
};

/** The chains' example requests, by the chain's name. @param body of a chain's; undefined where it has none */
function examplesOf(body: (examples: SourceChainKind["examples"]) => object | undefined): Record<string, object> {
  const examples = SOURCE_CHAINS.flatMap(({ format: { name }, examples }) => {
    const members = body(examples);
    return members ? [[name, { chain: name, ...members }]] : [];
  });
  return Object.fromEntries(examples);
}

/** What is sold. */
export const PAID = {
  attest: {
    method: "POST",
    path: "/attest",
    access: "paid",
    tag: "attest",
    summary: "Attest a confirmed transaction: record its hash on Algorand and return a signed proof bundle",
    description: `Fetches a confirmed transaction of ${ANY_CHAIN}, records its hash in a zero-value transaction on algorand-mainnet, and returns a ProofBundle signed with ML-DSA-65 (post-quantum), which anyone can verify offline. Each new payment makes a new attestation. ${HOW_TO_PAY}`,
    body: {
      schema: AttestRequest,
      maxBytes: MAX_BYTES,
      description: "The transaction to attest.",
      examples: examplesOf(({ attest }) => attest),
    },
    replies: {
      200: { description: "The signed bundle.", schema: ProofBundle, headers: ["PAYMENT-RESPONSE"] },
      402: PAYMENT_REQUIRED,
    },
    problems: [...PROBLEMS, "source_inner_transaction"],
    tool: { name: "attest", title: "Attest a transaction", annotations: ANNOTATIONS },
    skill: {
      id: "attest",
      name: "Attest a transaction",
      tags: ["attestation", ...NAMES, "post-quantum", "x402"],
    },
  },
  attestBlock: {
    method: "POST",
    path: "/attest-block",
    access: "paid",
    tag: "attest",
    summary: "Attest a block: record its header's hash on Algorand and return a signed block bundle",
    description: `Fetches a finalized block's header of ${ANY_CHAIN}, records its hash in a zero-value transaction on algorand-mainnet, and returns a BlockBundle signed with ML-DSA-65 (post-quantum), which anyone can verify offline. One block per request. ${HOW_TO_PAY}`,
    body: {
      schema: BlockRequest,
      maxBytes: MAX_BYTES,
      description: "The block to attest.",
      examples: examplesOf(({ block }) => block),
    },
    replies: {
      200: { description: "The signed bundle.", schema: BlockBundle, headers: ["PAYMENT-RESPONSE"] },
      402: PAYMENT_REQUIRED,
    },
    problems: [...PROBLEMS, "block_not_found"],
    tool: { name: "attest_block", title: "Attest a block", annotations: ANNOTATIONS },
    skill: {
      id: "attest-block",
      name: "Attest a block",
      tags: ["attestation", "block", ...NAMES, "post-quantum", "x402"],
    },
  },
  proveInclusion: {
    method: "POST",
    path: "/prove-tx-inclusion",
    access: "paid",
    tag: "attest",
    summary: "Prove that a transaction is in a block, attest the block, and return a signed inclusion bundle",
    description: `Builds the Merkle proof that leads from a transaction of ${ANY_CHAIN} to its finalized block's header, records the header's hash in a zero-value transaction on algorand-mainnet, and returns an InclusionBundle signed with ML-DSA-65 (post-quantum), which anyone can verify offline. ${HOW_TO_PAY}`,
    body: {
      schema: InclusionRequest,
      maxBytes: MAX_BYTES,
      description: "The transaction, and the block that holds it.",
      examples: examplesOf(({ inclusion }) => inclusion),
    },
    replies: {
      200: { description: "The signed bundle.", schema: InclusionBundle, headers: ["PAYMENT-RESPONSE"] },
      402: PAYMENT_REQUIRED,
    },
    problems: [...PROBLEMS, "source_inner_transaction", "source_elsewhere", "block_not_found"],
    tool: { name: "prove_tx_inclusion", title: "Prove that a transaction is in a block", annotations: ANNOTATIONS },
    skill: {
      id: "prove-tx-inclusion",
      name: "Prove that a transaction is in a block",
      tags: ["proof", "inclusion", ...NAMES, "post-quantum", "x402"],
    },
  },
} as const satisfies Record<string, Endpoint>;
