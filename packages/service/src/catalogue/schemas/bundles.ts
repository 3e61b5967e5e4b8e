import { z } from "zod";
import { SOURCE_CHAINS } from "../../chains/registry.ts";
import { bundlePattern, ofEachChain } from "../sources.ts";
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

/** The three bundles, as `@attestd/proof` has them. They are signed: no member may be added or left out. */

const VERSION = z.literal(1);
const NETWORK = z.literal("algorand-mainnet").describe("The ledger of record.");

const Source = named(
  "Source",
  z
    .strictObject({
      chain: Chain.optional().describe("Inferred from txnId where absent."),
      txnId: TransactionId,
      hashSha256: Sha256Hex.describe("SHA-256 of the bytes in txnBytesBase64, lower-case hex."),
      txnBytesBase64: Base64.describe(`The exact bytes. ${ofEachChain(({ terms }) => terms.transactionBytes)}`),
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
      height: SafeInteger.describe(ofEachChain(({ terms }) => terms.height)),
      blockHash: z
        .string()
        .regex(bundlePattern("blockHash"))
        .describe(ofEachChain(({ blockHash }) => blockHash.description)),
      headerBase64: Base64.describe(ofEachChain(({ terms }) => terms.headerBytes)),
      hashSha256: Sha256Hex.describe("SHA-256 of the header's bytes, lower-case hex."),
    })
    .describe("A block, by its header."),
);

const INCLUSIONS = SOURCE_CHAINS.map(({ format, inclusion }) => named(`${format.label}Inclusion`, inclusion));

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
      inclusion: z.union(INCLUSIONS),
      ...attestation,
    })
    .describe("A proof that a transaction is in a block which is attested, signed; it verifies offline."),
);

export const Bundle = named("Bundle", z.union([ProofBundle, BlockBundle, InclusionBundle]));
