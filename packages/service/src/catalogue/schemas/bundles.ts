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
import { named, namedObject } from "./registry.ts";

/* The three bundles, as `@attestd/proof` reads them. They are signed: no member may be added or left out. */

const LEDGER = {
  version: z.literal(1),
  network: z.literal("algorand-mainnet").describe("The ledger of record."),
};

const Source = namedObject("Source", "The source transaction.", {
  chain: Chain.optional().describe("Inferred from txnId where absent."),
  txnId: TransactionId,
  hashSha256: Sha256Hex.describe("SHA-256 of the bytes in txnBytesBase64, lower-case hex."),
  txnBytesBase64: Base64.describe(`The exact bytes. ${ofEachChain(({ terms }) => terms.transactionBytes)}`),
});

const Block = namedObject("Block", "A block, by its header.", {
  chain: Chain,
  height: SafeInteger.describe(ofEachChain(({ terms }) => terms.height)),
  blockHash: z
    .string()
    .regex(bundlePattern("blockHash"))
    .describe(ofEachChain(({ blockHash }) => blockHash.description)),
  headerBase64: Base64.describe(ofEachChain(({ terms }) => terms.headerBytes)),
  hashSha256: Sha256Hex.describe("SHA-256 of the header's bytes, lower-case hex."),
});

const ATTESTATION = {
  attest: namedObject("Attest", "The attestation transaction on the ledger.", {
    txnId: AlgorandTxId,
    round: SafeInteger.min(1).describe("The ledger's round in which it was confirmed."),
    note: z.string().max(1024).describe("The note recorded there: ARC-2, attestd/v1:j and canonical JSON."),
  }),
  attestor: namedObject(
    "Attestor",
    "Who attests. A key inside a bundle proves nothing by itself: compare it with the key history.",
    { algorandAddress: AlgorandAddress, pqPublicKey: PqPublicKey },
  ),
  signature: namedObject(
    "Signature",
    "ML-DSA-65 (FIPS 204), empty context, over the RFC 8785 JSON of the bundle without `signature`.",
    { alg: z.literal("ML-DSA-65"), sigBase64: z.base64().length(4412).describe("3309 bytes, standard base64.") },
  ),
};

const INCLUSIONS = SOURCE_CHAINS.map(({ format, inclusion }) => named(`${format.label}Inclusion`, inclusion));

export const ProofBundle = namedObject(
  "ProofBundle",
  "The signed attestation of a transaction, which can be verified offline.",
  { ...LEDGER, source: Source, ...ATTESTATION },
);

export const BlockBundle = namedObject(
  "BlockBundle",
  "The signed attestation of a block, which can be verified offline.",
  { type: z.literal("block-attestation"), ...LEDGER, block: Block, ...ATTESTATION },
);

export const InclusionBundle = namedObject(
  "InclusionBundle",
  "A signed proof that a transaction is in a block, and the attestation of that block. It can be verified offline.",
  {
    type: z.literal("tx-inclusion"),
    ...LEDGER,
    block: Block,
    source: Source,
    inclusion: z.union(INCLUSIONS),
    ...ATTESTATION,
  },
);

export const Bundle = named("Bundle", z.union([ProofBundle, BlockBundle, InclusionBundle]));
