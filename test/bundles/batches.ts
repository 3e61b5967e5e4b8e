import {
  ALGORAND_MAINNET,
  type BatchAnswer,
  type BatchHead,
  type BatchItem,
  type BatchStatement,
} from "@attestd/proof";
import { batchStatementLeaf, batchTree } from "@attestd/proof/attestor";
import { toBase64, toHex, utf8 } from "@attestd/proof/encoding";
import { sha256 } from "@noble/hashes/sha2.js";
import { testBaseTransaction, testPayment } from "./blocks.ts";
import {
  attest,
  formatOf,
  signBundle,
  TEST_STATEMENTS,
  type TestAttestor,
  type TestBundleOptions,
  testAttestor,
  testSource,
} from "./bundles.ts";

/** A transaction of a batch, by its bytes. */
export type TestItem = { chain: string; txnBytes: Uint8Array; statement?: Partial<BatchStatement> };

/** A payment on Algorand and a transaction on Base. */
export const TEST_ITEMS: readonly TestItem[] = [
  { chain: "algorand", txnBytes: testPayment() },
  { chain: "base", txnBytes: testBaseTransaction(1) },
];

/** A valid answer of a batch. The nonces follow from the places, so that a test's bundles are the same in every run. */
export function testBatch(items: readonly TestItem[] = TEST_ITEMS, options: TestBundleOptions = {}): BatchAnswer {
  const { attestor = testAttestor(), ledger = ALGORAND_MAINNET } = options;
  const stated = items.map((item, index) => statementOf(item, index, ledger, options));
  const { root, path } = batchTree(stated.map(({ statement }) => batchStatementLeaf(statement)));
  const size = items.length;
  const members = { type: "batch-attestation", size, root: toBase64(root) } as const;
  return {
    batch: attest<BatchHead>(attestor, options, members, { r: toHex(root), z: size }),
    items: stated.map(({ source, statement }, index) => ({
      type: "batch-item",
      version: 1,
      network: "algorand-mainnet",
      source,
      statement,
      proof: { index, siblings: path(index).map(toBase64) },
    })),
  };
}

/** One item of `testBatch`, as a bundle of its own. */
export function testBatchItem(
  options: TestBundleOptions & { items?: readonly TestItem[]; index?: number } = {},
): BatchItem {
  const { batch, items } = testBatch(options.items, options);
  return { ...(items[options.index ?? 0] as BatchAnswer["items"][number]), batch };
}

function statementOf(
  { chain, txnBytes, statement }: TestItem,
  index: number,
  ledger: string,
  options: TestBundleOptions,
) {
  const format = formatOf(chain, options);
  const { source, caip2 } = testSource(format, txnBytes, ledger);
  const { b: hash, n: height, u: time, s } = TEST_STATEMENTS[chain] as (typeof TEST_STATEMENTS)[string];
  const stated: BatchStatement = {
    type: "transaction",
    chain: caip2,
    txnId: source.txnId,
    hashSha256: source.hashSha256,
    block: { hash, height, time },
    level: format.levels.includes(options.level ?? "finalized") ? (options.level ?? "finalized") : "finalized",
    outcome: s === undefined ? "not_applicable" : "succeeded",
    nonce: toBase64(sha256(utf8(`nonce ${index}`)).subarray(0, 16)),
    ...statement,
  };
  return { source: { ...source, chain }, statement: stated };
}

/** The item with another head, signed by this attestor, whether or not it is true. */
export function withHead(item: BatchItem, attestor: TestAttestor, members: Partial<BatchHead>): BatchItem {
  const { signature: _, ...head } = { ...item.batch, ...members };
  return { ...item, batch: signBundle(attestor, head) };
}
