import { MAX_BATCH_ITEMS, MIN_BATCH_ITEMS } from "@attestd/proof";
import { z } from "zod";
import { SOURCE_CHAINS } from "../../chains/registry.ts";
import { bundlePattern, ofEachChain } from "../sources.ts";
import {
  AlgorandAddress,
  AlgorandTxId,
  Base64,
  Caip2,
  Chain,
  PqPublicKey,
  SafeInteger,
  Sha256Hex,
  TransactionId,
} from "./primitives.ts";
import { named, namedObject } from "./registry.ts";

/*
 * The schemas of bundles, in agreement with `@attestd/proof`. Bundles are signed: no member may be added or left out.
 */

const LEDGER = {
  version: z.literal(1),
  network: z.literal("algorand-mainnet").describe("The ledger of record."),
};

const SOURCE = {
  txnId: TransactionId,
  hashSha256: Sha256Hex.describe("SHA-256 of the bytes in txnBytesBase64, lower-case hex."),
  txnBytesBase64: Base64.describe(`The exact bytes. ${ofEachChain(({ terms }) => terms.transactionBytes)}`),
};

const Source = namedObject("Source", "The source transaction.", {
  chain: Chain.optional().describe("Inferred from txnId where absent."),
  ...SOURCE,
});

const BlockHash = z
  .string()
  .regex(bundlePattern("blockHash"))
  .describe(ofEachChain(({ blockHash }) => blockHash.description));

const Digest = z.base64().length(44).describe("32 bytes, standard base64.");

const Block = namedObject("Block", "A block, by its header.", {
  chain: Chain,
  height: SafeInteger.describe(ofEachChain(({ terms }) => terms.height)),
  blockHash: BlockHash,
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

export const BatchHead = namedObject("BatchHead", "What is signed and recorded, once for all items of a batch.", {
  type: z.literal("batch-attestation"),
  ...LEDGER,
  size: z.int().min(MIN_BATCH_ITEMS).max(MAX_BATCH_ITEMS).describe("The number of items."),
  root: Digest.describe("The root of the RFC 9162 tree (section 2.1) over the items' statements, in order."),
  ...ATTESTATION,
});

const BatchStatement = namedObject("BatchStatement", "What is stated of one transaction: the data of its leaf.", {
  type: z.literal("transaction"),
  chain: Caip2,
  txnId: TransactionId,
  hashSha256: Sha256Hex.describe("SHA-256 of the transaction's bytes, lower-case hex."),
  block: z.strictObject({ hash: BlockHash, height: SafeInteger, time: SafeInteger.describe("Unix seconds.") }),
  level: z.enum(["included", "safe", "finalized"]),
  outcome: z.enum(["succeeded", "failed", "not_applicable"]),
  nonce: z.base64().length(24).describe("16 random bytes, standard base64."),
});

const ITEM = {
  type: z.literal("batch-item"),
  ...LEDGER,
  source: namedObject("BatchSource", "The source transaction of an item.", { chain: Chain, ...SOURCE }),
  statement: BatchStatement,
  proof: z
    .strictObject({ index: SafeInteger.max(MAX_BATCH_ITEMS - 1), siblings: z.array(Digest).max(10) })
    .describe("The item's place in the batch, from 0, and the way from its leaf to the root."),
};

export const BatchItem = namedObject(
  "BatchItem",
  "The attestation of one transaction of a batch, which can be verified offline, without the other items.",
  { ...ITEM, batch: BatchHead },
);

export const BatchAnswer = namedObject(
  "BatchAnswer",
  "A batch: its head, and each item without it. An item with the head as its member `batch` is a BatchItem.",
  {
    batch: BatchHead,
    items: z
      .array(namedObject("BatchAnswerItem", "An item of a batch, without the head.", ITEM))
      .min(MIN_BATCH_ITEMS)
      .max(MAX_BATCH_ITEMS),
  },
);

export const Bundle = named("Bundle", z.union([ProofBundle, BlockBundle, InclusionBundle, BatchItem, BatchAnswer]));
