import { z } from "zod";
import {
  AlgorandAddress,
  AlgorandTxId,
  Base64,
  Chain,
  PqPublicKey,
  SafeInteger,
  Sha256Hex,
  TransactionId,
} from "./primitives.ts";
import { named } from "./registry.ts";

/** The three bundles, as `proof/bundle-types.ts` has them. They are signed: no member may be added or left out. */

const VERSION = z.literal(1);
const NETWORK = z.literal("algorand-mainnet").describe("The ledger of record.");

const Source = named(
  "Source",
  z
    .strictObject({
      chain: Chain.optional().describe("Inferred from txnId where absent."),
      txnId: TransactionId,
      hashSha256: Sha256Hex.describe("SHA-256 of the bytes in txnBytesBase64, lower-case hex."),
      txnBytesBase64: Base64.describe(
        "The exact bytes. Algorand: canonical msgpack of the unsigned transaction. Base: the EIP-2718 bytes.",
      ),
    })
    .describe("The source transaction."),
);

const Attest = named(
  "Attest",
  z
    .strictObject({
      txnId: AlgorandTxId,
      round: SafeInteger.min(1).describe("The ledger's round in which it was confirmed."),
      note: z.string().max(1024).describe("The note recorded there: ARC-2, attestd/v1:j and canonical JSON."),
    })
    .describe("The attestation transaction on the ledger."),
);

const Attestor = named(
  "Attestor",
  z
    .strictObject({ algorandAddress: AlgorandAddress, pqPublicKey: PqPublicKey })
    .describe("Who attests. A key inside a bundle proves nothing by itself: compare it with the key history."),
);

const Signature = named(
  "Signature",
  z
    .strictObject({
      alg: z.literal("ML-DSA-65"),
      sigBase64: z.base64().length(4412).describe("3309 bytes, standard base64."),
    })
    .describe("ML-DSA-65 (FIPS 204), empty context, over the RFC 8785 JSON of the bundle without `signature`."),
);

const Block = named(
  "Block",
  z
    .strictObject({
      chain: Chain,
      height: SafeInteger.describe("Algorand's round, Base's block number."),
      blockHash: z
        .string()
        .regex(/^([A-Z2-7]{52}|0x[0-9a-f]{64})$/)
        .describe("Algorand: 52 characters of base32. Base: 0x and 64 hex digits."),
      headerBase64: Base64.describe("Algorand: canonical msgpack of the header map. Base: RLP of the header."),
      hashSha256: Sha256Hex.describe("SHA-256 of the header's bytes, lower-case hex."),
    })
    .describe("A block, by its header."),
);

const Hash = z.base64().length(44);

const AlgorandInclusion = named(
  "AlgorandInclusion",
  z
    .strictObject({
      kind: z.literal("algorand-merkle"),
      tree: z.enum(["txn256", "txn"]).describe("The header's root that the proof leads to."),
      index: SafeInteger.describe("Place in the payset, from 0."),
      stibBase64: Base64.describe("Canonical msgpack of the in-block map, without the prefix STIB."),
      siblings: z.array(z.base64()).describe("From leaf to root."),
      lightHeader: z
        .strictObject({
          index: SafeInteger,
          interval: SafeInteger,
          commitment: Hash.describe("The state proof message's BlockHeadersCommitment."),
          siblings: z.array(z.base64()),
        })
        .optional()
        .describe("The way from the header to the commitment of a state proof."),
    })
    .describe("The way from an Algorand transaction to its block's header."),
);

const BaseInclusion = named(
  "BaseInclusion",
  z
    .strictObject({
      kind: z.literal("mpt"),
      index: SafeInteger.describe("Place in the block, from 0."),
      nodes: z.array(Base64).describe("Trie nodes from root to leaf."),
      receipt: z
        .strictObject({ bytesBase64: Base64, nodes: z.array(Base64) })
        .optional()
        .describe("The transaction's receipt and its own proof."),
    })
    .describe("The way from a Base transaction to its block's header."),
);

const attestation = { attest: Attest, attestor: Attestor, signature: Signature };

export const ProofBundle = named(
  "ProofBundle",
  z
    .strictObject({ version: VERSION, network: NETWORK, source: Source, ...attestation })
    .describe("The attestation of a transaction, signed; it verifies offline."),
);

export const BlockBundle = named(
  "BlockBundle",
  z
    .strictObject({
      type: z.literal("block-attestation"),
      version: VERSION,
      network: NETWORK,
      block: Block,
      ...attestation,
    })
    .describe("The attestation of a block, signed; it verifies offline."),
);

export const InclusionBundle = named(
  "InclusionBundle",
  z
    .strictObject({
      type: z.literal("tx-inclusion"),
      version: VERSION,
      network: NETWORK,
      block: Block,
      source: Source,
      inclusion: z.union([AlgorandInclusion, BaseInclusion]),
      ...attestation,
    })
    .describe("A proof that a transaction is in a block which is attested, signed; it verifies offline."),
);

export const Bundle = named("Bundle", z.union([ProofBundle, BlockBundle, InclusionBundle]));
