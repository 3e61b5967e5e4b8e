import { MAX_BUNDLE_BYTES } from "@attestd/proof";
import { z } from "zod";
import { type Endpoint, forAgents } from "./endpoint.ts";
import { BatchItem, BlockBundle, InclusionBundle, ProofBundle } from "./schemas/bundles.ts";
import { VerifyReport } from "./schemas/reports.ts";

const Query = z.object({
  chain: z
    .enum(["1", "true"], "is 1 or true, or absent")
    .optional()
    .describe("Also fetch the source and the attestation transaction again, and compare."),
});

const ANNOTATIONS = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true };

/** @param checks completes "Checks …" */
function verifying(path: string, summary: string, schema: z.ZodType, checks: string) {
  return {
    method: "POST",
    path,
    access: "free",
    tag: "verify",
    summary,
    description: `Checks ${checks} Free, and offline unless chain is 1: then the source and the attestation transaction are also fetched again from their chains. 200 with the report when the bundle is verified; 400 with the report when any check fails; 404 when a chain has no such record. Only this service's own keys are trusted.`,
    query: Query,
    body: {
      schema,
      maxBytes: MAX_BUNDLE_BYTES,
      description: "The bundle, as it was delivered.",
    },
    replies: { 200: { description: "The bundle is verified.", schema: VerifyReport } },
    problems: [
      "body_not_json",
      "query_invalid",
      "bundle_rejected",
      "record_not_found",
      "body_too_large",
      "media_type",
      "providers_unavailable",
      "providers_conflict",
      "over_capacity",
    ],
    ...forAgents(path, summary, ANNOTATIONS, ["verification", "post-quantum", "free"]),
  } as const satisfies Endpoint;
}

export const VERIFY = {
  verify: verifying(
    "/verify",
    "Verify a proof bundle",
    z.union([ProofBundle, BatchItem]),
    "the ML-DSA-65 signature, the attestor's key, the hash preimage, the transaction's own id and the note of a ProofBundle; of a BatchItem also the way to the root of its batch.",
  ),
  verifyBlock: verifying(
    "/verify-block",
    "Verify a block bundle",
    BlockBundle,
    "the ML-DSA-65 signature, the attestor's key, the hash preimage, the block's own hash and height, and the note of a BlockBundle.",
  ),
  verifyInclusion: verifying(
    "/verify-tx-inclusion",
    "Verify an inclusion bundle",
    InclusionBundle,
    "the ML-DSA-65 signature, the attestor's key, the hash preimages, the transaction's own id, the block's own hash and height, the Merkle proof and the note of an InclusionBundle.",
  ),
} as const;
