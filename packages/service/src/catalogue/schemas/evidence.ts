import { z } from "zod";
import { Base64, SafeInteger, Sha256Hex } from "./primitives.ts";
import { named, namedObject } from "./registry.ts";

/* The evidence of a bundle, in agreement with `@attestd/proof/evidence`. */

const Digest = z.base64().length(44).describe("32 bytes, base64.");
const Siblings = z.array(Digest).max(20);
const VotersCommitment = z.base64().length(88).describe("64 bytes, base64.");
const Weight = SafeInteger.min(1).describe("ln of the microalgos to be proven, in 16 binary places, rounded up.");

const underHeader = {
  headerBase64: Base64.describe("The header: canonical msgpack of the block map without txns."),
  index: SafeInteger.describe("The transaction's place in its block."),
  stibBase64: Base64.describe("The block's entry for it: canonical msgpack."),
  siblings: Siblings.describe("From the leaf to the header's txn256."),
};

const AlgorandInclusionItem = namedObject(
  "AlgorandInclusionItem",
  "The attestation transaction stands under a header.",
  {
    type: z.literal("algorand-inclusion/1"),
    txnBytesBase64: Base64.describe("The transaction: canonical msgpack."),
    ...underHeader,
  },
);

const AlgorandSourceInclusionItem = namedObject(
  "AlgorandSourceInclusionItem",
  "The attested transaction stands under the header of the block that the attestor states.",
  { type: z.literal("algorand-source-inclusion/1"), ...underHeader },
);

const stakeProof = {
  siblings: Siblings.describe("From the header's light header to blockHeadersCommitment."),
  message: z.strictObject({
    blockHeadersCommitment: Digest,
    votersCommitment: VotersCommitment,
    lnProvenWeight: Weight,
    firstAttestedRound: SafeInteger.min(1),
    lastAttestedRound: SafeInteger.min(1),
  }),
  stateProofSha256: Sha256Hex,
  stateProofBase64: Base64.optional().describe("The state proof: canonical msgpack."),
  checkpoint: z
    .strictObject({
      genesisHash: Digest,
      round: SafeInteger,
      votersCommitment: VotersCommitment,
      lnProvenWeight: Weight,
    })
    .describe("The checkpoint on which it rests. A verifier must know it from elsewhere."),
  path: z
    .strictObject({ index: SafeInteger, size: SafeInteger.min(1), hashes: z.array(Digest).max(53) })
    .optional()
    .describe("From the checkpoint to the root of a table of `size` checkpoints, by RFC 9162."),
};

const AlgorandStateProofItem = namedObject("AlgorandStateProofItem", "Stake has signed for that header.", {
  type: z.literal("algorand-state-proof/1"),
  ...stakeProof,
});

const AlgorandSourceStateProofItem = namedObject(
  "AlgorandSourceStateProofItem",
  "Stake has signed for the header of the source's block, which AlgorandSourceInclusionItem or else the bundle itself contains.",
  { type: z.literal("algorand-source-state-proof/1"), ...stakeProof },
);

const AlgorandAuthorisationItem = namedObject(
  "AlgorandAuthorisationItem",
  "The key that signed the attestation transaction; the signature is in the inclusion's stibBase64.",
  {
    type: z.literal("algorand-authorisation/1"),
    alg: z.enum(["ed25519", "falcon-1024"]),
    authorizer: z
      .string()
      .length(58)
      .optional()
      .describe("The account to whose key the sender was rekeyed, if it was."),
  },
);

export const Evidence = namedObject(
  "Evidence",
  "What shows that the ledger recorded an attestation, and the block of its source. Nobody signs it.",
  {
    format: z.literal("attestd.evidence/1"),
    bundle: z
      .string()
      .regex(/^sha256:[0-9a-f]{64}$/)
      .describe("SHA-256 of the RFC 8785 JSON of the whole bundle."),
    items: z
      .array(
        z.union([
          AlgorandInclusionItem,
          AlgorandStateProofItem,
          AlgorandAuthorisationItem,
          AlgorandSourceInclusionItem,
          AlgorandSourceStateProofItem,
        ]),
      )
      .max(20),
  },
);

export const EvidencePending = namedObject("EvidencePending", "The evidence is not complete yet.", {
  status: z.literal("pending"),
  round: SafeInteger.min(1).describe("The ledger's round of the record, which no state proof attests yet."),
});

export const StateProofBytes = named(
  "StateProofBytes",
  z.string().meta({ format: "binary" }).describe("Canonical msgpack, at most 3 MiB."),
);
