import {
  ATTESTED,
  type Attested,
  type BundleSource,
  LEDGER,
  type Ledger,
  SOURCE,
  type Statement,
  sourceChain,
  text,
} from "./bundle-members.ts";
import type { ChainFormat, Level } from "./chain-format.ts";
import { formatError } from "./errors.ts";
import { canonicalBytes } from "./json/canonical.ts";
import { jsonValue } from "./json/parse.ts";
import { base64, caip2, constant, hex32Bytes, integer, list, object } from "./json/readers.ts";
import { leafHash } from "./rfc6962.ts";

/* A batch: many transactions under one signature and one note, each with a bundle of its own. */

export const MIN_BATCH_ITEMS = 2;
export const MAX_BATCH_ITEMS = 1000;

/** What the attestor states of one transaction: the input of its leaf. */
export type BatchStatement = Statement & {
  type: "transaction";
  /** CAIP-2. */
  chain: string;
  txnId: string;
  /** Lower-case hex SHA-256 of the transaction's bytes. */
  hashSha256: string;
  level: Level;
  /** 16 random bytes, base64: who sees a leaf's hash among the siblings of another learns nothing of its statement. */
  nonce: string;
};

/** The way from a statement to the batch's root. */
export type BatchProof = {
  /** The leaf's place, from 0. */
  index: number;
  /** From leaf to root, base64 of 32 bytes each. */
  siblings: string[];
};

/** What is signed and recorded, once for all items of a batch. */
export type BatchHead = Attested & {
  type: "batch-attestation";
  /** The number of items, from `MIN_BATCH_ITEMS` to `MAX_BATCH_ITEMS`. */
  size: number;
  /** Of the tree of RFC 9162 section 2.1 over the statements, base64 of 32 bytes. */
  root: string;
};

/** An item as an answer has it, which has the head once for all. */
export type BatchAnswerItem = Ledger & {
  type: "batch-item";
  source: BundleSource & { chain: string };
  statement: BatchStatement;
  proof: BatchProof;
};

/** The attestation of one transaction of a batch. It needs no other item to be verified. */
export type BatchItem = BatchAnswerItem & { batch: BatchHead };

const ITEM = {
  type: constant("batch-item"),
  ...LEDGER,
  source: object({ ...SOURCE, chain: text }),
  statement: object({
    type: constant("transaction"),
    chain: caip2,
    txnId: text,
    hashSha256: hex32Bytes,
    block: object({ hash: text, height: integer(0), time: integer(0) }),
    level: constant("included", "safe", "finalized"),
    outcome: constant("succeeded", "failed", "not_applicable"),
    nonce: base64(16),
  }),
  proof: object({ index: integer(0), siblings: list(20, base64(32)) }),
};

/** Reads an item without its head; `checkBatchItem` holds it to its chain. */
export const readBatchAnswerItem = object(ITEM);

export const readBatchHead = object({
  type: constant("batch-attestation"),
  ...ATTESTED,
  size: integer(MIN_BATCH_ITEMS, MAX_BATCH_ITEMS),
  root: base64(32),
});

/**
 * Reads a head. Whether its note is of this batch and its signature right, `verify` says of an item.
 * @param input text or UTF-8, or a value as `parseJson` returns it
 * @throws ProofError `format`; `json` for a text
 */
export function parseBatchHead(input: unknown): BatchHead {
  return readBatchHead(jsonValue(input), "");
}

/** Reads an item; `checkBatchItem` holds it to its chain. */
export const readBatchItem = object({ ...ITEM, batch: readBatchHead });

/** Holds ids, hash, level and outcome to the forms of the source's chain. @throws ProofError `format` */
export function checkBatchItem(
  { source, statement }: BatchAnswerItem,
  chains: readonly ChainFormat[],
  pointer = "",
): void {
  const chain = sourceChain(source, chains, `${pointer}/source`);
  const { label, levels, transactionsCanFail } = chain;
  const at = `${pointer}/statement`;
  if (!chain.transactionId.pattern.test(statement.txnId))
    throw formatError(`${at}/txnId`, `must be a transaction id of ${chain.name}`);
  if (!chain.blockHash.pattern.test(statement.block.hash))
    throw formatError(`${at}/block/hash`, `must be ${chain.blockHash.description}`);
  if (!levels.includes(statement.level)) throw formatError(`${at}/level`, `must be ${levels.join(" or ")}`);
  if ((statement.outcome !== "not_applicable") !== transactionsCanFail)
    throw formatError(
      `${at}/outcome`,
      transactionsCanFail
        ? 'must be "succeeded" or "failed"'
        : `must be "not_applicable": no transaction of ${label} fails in a block`,
    );
}

/** The hash of a statement's leaf, 32 bytes: SHA-256 of the byte 0 and RFC 8785 of the statement. */
export function batchStatementLeaf(statement: BatchStatement): Uint8Array {
  return leafHash(canonicalBytes(statement));
}
