import { MAX_BUNDLE_BYTES } from "@attestd/proof";
import { z } from "zod";
import type { Endpoint } from "./endpoint.ts";
import { BlockBundle, InclusionBundle, ProofBundle } from "./schemas/bundles.ts";
import { VerifyReport } from "./schemas/reports.ts";

const Query = z.object({
  chain: z
    .enum(["1", "true"], "is 1 or true, or absent")
    .optional()
    .describe("Also fetch the source and the attestation transaction again, and compare."),
});

type Wording = { path: string; summary: string; schema: z.ZodType; checks: string };

/** The three differ in the type of bundle that they take. */
function verifying({ path, summary, schema, checks }: Wording) {
  const name = path.slice(1);
  return {
    method: "POST",
    path,
    access: "free",
    tag: "verify",
    summary,
    description: `Checks ${checks} Free, and offline unless chain is 1: then the source and the attestation transaction are also fetched again from their chains. 200 with the report when the bundle is verified; 400 with the report when any check fails; 404 when a chain has no such record. Keys other than this service's own are not believed.`,
    query: Query,
    body: {
      schema,
      maxBytes: MAX_BUNDLE_BYTES,
      description: "The bundle, as it was delivered.",
      checkedBy: "operation",
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
    tool: {
      name: name.replaceAll("-", "_"),
      title: summary,
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true },
    },
    skill: { id: name, name: summary, tags: ["verification", "post-quantum", "free"] },
  } as const satisfies Endpoint;
}

/** What is checked, for free. */
export const VERIFY = {
  verify: verifying({
    path: "/verify",
    summary: "Verify a proof bundle",
    schema: ProofBundle,
    checks:
      "the ML-DSA-65 signature, the attestor's key, the hash preimage, the transaction's own id and the note of a ProofBundle.",
  }),
  verifyBlock: verifying({
    path: "/verify-block",
    summary: "Verify a block bundle",
    schema: BlockBundle,
    checks:
      "the ML-DSA-65 signature, the attestor's key, the hash preimage, the block's own hash and height, and the note of a BlockBundle.",
  }),
  verifyInclusion: verifying({
    path: "/verify-tx-inclusion",
    summary: "Verify an inclusion bundle",
    schema: InclusionBundle,
    checks:
      "the ML-DSA-65 signature, the attestor's key, the hash preimages, the transaction's own id, the block's own hash and height, the Merkle proof and the note of an InclusionBundle.",
  }),
} as const satisfies Record<string, Endpoint>;
