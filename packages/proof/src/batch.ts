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

/* A batch: many transactions under one signature and one note, each with its own bundle. */

export const MIN_BATCH_ITEMS = 2;
export const MAX_BATCH_ITEMS = 1000;

/** The attestor's statement about one transaction: the data of its leaf. */
export type BatchStatement = Statement & {
  type: "transaction";
  /** CAIP-2. */
  chain: string;
  txnId: string;
  /** Lower-case hex SHA-256 of the transaction's bytes. */
  hashSha256: string;
  level: Level;
  /** 16 random bytes, base64. They keep a leaf hash among another item's siblings from revealing its statement. */
  nonce: string;
};

/** The path from a statement to the batch's root. */
export type BatchProof = {
  /** The leaf's index, from 0. */
  index: number;
  /** From leaf to root, base64 of 32 bytes each. */
  siblings: string[];
};

/** The part that is signed and recorded once for all items of a batch. */
export type BatchHead = Attested & {
  type: "batch-attestation";
  /** The number of items, from `MIN_BATCH_ITEMS` to `MAX_BATCH_ITEMS`. */
  size: number;
  /** The root of the RFC 9162 tree (section 2.1) over the statements, base64 of 32 bytes. */
  root: string;
};

/** An item of an answer, which has the head only once. */
export type BatchAnswerItem = Ledger & {
  type: "batch-item";
  source: BundleSource & { chain: string };
  statement: BatchStatement;
  proof: BatchProof;
};

/** The attestation of one transaction of a batch. It can be verified without the other items. */
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

/** Reads an item without its head. `checkBatchItem` checks it against its chain's formats. */
export const readBatchAnswerItem = object(ITEM);

export const readBatchHead = object({
  type: constant("batch-attestation"),
  ...ATTESTED,
  size: integer(MIN_BATCH_ITEMS, MAX_BATCH_ITEMS),
  root: base64(32),
});

/**
 * Reads a head. `verify` checks an item's note and signature.
 * @param input text or UTF-8, or a value as `parseJson` returns it
 * @throws ProofError `format`; `json` for a text
 */
export function parseBatchHead(input: unknown): BatchHead {
  return readBatchHead(jsonValue(input), "");
}

/** Reads an item. `checkBatchItem` checks it against its chain's formats. */
export const readBatchItem = object({ ...ITEM, batch: readBatchHead });

/** Checks that ids, hash, level and outcome have the formats of the source's chain. @throws ProofError `format` */
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
