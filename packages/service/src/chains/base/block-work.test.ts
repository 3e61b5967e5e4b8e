import type { InclusionBundle } from "@attestd/proof";
import {
  baseHeaderHash,
  baseTxHash,
  decodeBaseHeader,
  decodeRlp,
  encodeRlp,
  type RlpItem,
  trieRoot,
  verifyIndex,
} from "@attestd/proof/base";
import { fromBase64, toHex } from "@attestd/proof/encoding";
import { afterEach, describe, expect, it, test } from "vitest";
import { testBaseBlock, testBaseTransaction } from "../../../../../test/bundles/bundles.ts";
import { vectors } from "../../../../proof/test/vectors.ts";
import { type BlockOfBase, blockFromBytes, nodeWith } from "../../../test/fakes/base-block.ts";
import { type FakeBase, startRpcs } from "../../../test/fakes/base-providers.ts";
import type { Upstream } from "../../../test/fakes/providers.ts";
import type { Conflict } from "../../providers/quorum.ts";
import type { ConfirmationLevel } from "../chain.ts";
import { encodeReceipts, proveItem, serializeTransactions } from "./block-work.ts";
import { BaseSource } from "./source.ts";

const never = new AbortController().signal;
const open: Upstream[] = [];
afterEach(async () => {
  for (const upstream of open.splice(0)) await upstream.close();
});

async function sourceOf(...fakes: FakeBase[]) {
  const { rpcs, upstreams } = await startRpcs(...fakes);
  open.push(...upstreams);
  const conflicts: Conflict[] = [];
  const nodes = { rpcs, rules: { onConflict: (conflict: Conflict) => conflicts.push(conflict) } };
  const accept = ["eip155:11155420", "eip155:5", "eip155:7777777"];
  return { source: new BaseSource({ nodes, accept }), conflicts };
}

async function prove(source: BaseSource, number: number, txnId: string) {
  const found = await (await source.block(number, never)).find(txnId, never);
  if (!found) throw new Error(`not in block ${number}`);
  const { bytes, inclusion } = await found.prove(never);
  if (inclusion.kind !== "mpt") throw new Error("not a trie's proof");
  return { bytes, inclusion };
}

const made = testBaseBlock(20);
const HEADER = decodeBaseHeader(made.header);
const NUMBER = HEADER.number;
const receiptsOfMade = made.transactions.map((_, index) => ({
  type: "0x2",
  status: "0x1",
  cumulativeGasUsed: `0x${(21_000 * (index + 1)).toString(16)}`,
  logsBloom: `0x${"00".repeat(256)}`,
  logs: [],
}));

function madeBlock(): BlockOfBase & { ids: string[] } {
  const block = blockFromBytes(made.header, baseHeaderHash(made.header), made.transactions);
  return { ...block, ids: block.transactions.map(({ hash }) => hash) };
}

const madeNode = (over: Partial<BlockOfBase> = {}) => nodeWith({ ...madeBlock(), ...over });
const ID = madeBlock().ids[7] as string;

/** Returns what leads from a receipt to the header, or undefined. */
function receiptIn({ receipt, index }: Extract<InclusionBundle["inclusion"], { kind: "mpt" }>, header: Uint8Array) {
  const bytes = receipt && verifyIndex(decodeBaseHeader(header).receiptsRoot, index, receipt.nodes.map(fromBase64));
  expect(bytes && toHex(bytes)).toBe(receipt && toHex(fromBase64(receipt.bytesBase64)));
  return bytes;
}

describe("a block of Base", () => {
  it("is read by its number, its header bound to its hash", async () => {
    const { source } = await sourceOf(madeNode());
    expect(await source.block(NUMBER, never)).toMatchObject({
      chain: "base",
      caip2: "eip155:8453",
      height: NUMBER,
      blockHash: madeBlock().hash,
      header: made.header,
      level: "finalized",
    });
  });

  it.each<[ConfirmationLevel, Partial<FakeBase>]>([
    ["finalized", { safe: NUMBER, finalized: NUMBER }],
    ["safe", { safe: NUMBER, finalized: NUMBER - 1 }],
    ["included", { safe: NUMBER - 1, finalized: NUMBER - 2 }],
  ])("is %s where the heads say so", async (level, heads) => {
    const { source } = await sourceOf(Object.assign(madeNode(), heads));
    expect(await source.block(NUMBER, never)).toMatchObject({ level });
  });

  it("has the lowest level of the nodes that agree", async () => {
    const { source } = await sourceOf(madeNode(), Object.assign(madeNode(), { safe: NUMBER, finalized: 0 }));
    expect(await source.block(NUMBER, never)).toMatchObject({ level: "safe" });
  });

  it("is not there yet above every head, is where one of three nodes lags, and is asked for later where one of two does", async () => {
    const behind = () => Object.assign(madeNode(), { latest: NUMBER - 1, safe: 0, finalized: 0 });
    const { source } = await sourceOf(behind(), behind());
    await expect(source.block(NUMBER, never)).rejects.toMatchObject({ code: "block_not_found" });
    const { source: ahead, conflicts } = await sourceOf(behind(), madeNode(), madeNode());
    expect(await ahead.block(NUMBER, never)).toMatchObject({ blockHash: madeBlock().hash });
    expect(conflicts).toEqual([]);
    const { source: unsure } = await sourceOf(behind(), madeNode());
    await expect(unsure.block(NUMBER, never)).rejects.toMatchObject({ code: "providers_unavailable" });
  });

  it("cannot be told of by a node that dropped it", async () => {
    const node = madeNode();
    const heads = node.methods.eth_getBlockByNumber;
    node.methods.eth_getBlockByNumber = (tag = "") => (Number(tag) === NUMBER ? null : heads?.(tag));
    const { source } = await sourceOf(node);
    await expect(source.block(NUMBER, never)).rejects.toMatchObject({ code: "providers_unavailable" });
  });

  it.each<[string, Record<string, unknown>]>([
    ["member that the hash does not cover", { gasUsed: "0x1" }],
    ["hash", { hash: `0x${"11".repeat(32)}` }],
    ["member left out", { timestamp: undefined }],
    ["number of another", { number: "0x1" }],
  ])("is refused with a wrong %s", async (_, over) => {
    const node = madeNode();
    const heads = node.methods.eth_getBlockByNumber;
    node.methods.eth_getBlockByNumber = (tag = "") => {
      const block = heads?.(tag) as object;
      return Number(tag) === NUMBER ? { ...block, ...over } : block;
    };
    const { source } = await sourceOf(node);
    await expect(source.block(NUMBER, never)).rejects.toMatchObject({ code: "providers_unavailable" });
  });

  it("with another hash on another node is refused, and reported", async () => {
    const other = testBaseBlock(3);
    const fork = nodeWith(blockFromBytes(other.header, baseHeaderHash(other.header), other.transactions));
    const { source, conflicts } = await sourceOf(madeNode(), fork);
    await expect(source.block(NUMBER, never)).rejects.toMatchObject({ code: "providers_conflict" });
    expect(conflicts).toHaveLength(1);
  });

  it("outvotes a lone liar of three", async () => {
    const other = testBaseBlock(3);
    const fork = nodeWith(blockFromBytes(other.header, baseHeaderHash(other.header), other.transactions));
    const { source, conflicts } = await sourceOf(madeNode(), fork, madeNode());
    expect(await source.block(NUMBER, never)).toMatchObject({ blockHash: madeBlock().hash });
    expect(conflicts).toHaveLength(1);
  });

  it("does not hold a transaction of another", async () => {
    const { source } = await sourceOf(madeNode());
    const block = await source.block(NUMBER, never);
    expect(await block.find(baseTxHash(testBaseTransaction(999)), never)).toBeUndefined();
  });
});

describe("a proof of inclusion", () => {
  it("is built from raw bytes, one by one, where no node gives the block whole", async () => {
    const { source } = await sourceOf(madeNode());
    for (const index of [0, 7, 19]) {
      const id = madeBlock().ids[index] as string;
      const { bytes, inclusion } = await prove(source, NUMBER, id);
      expect([inclusion.index, baseTxHash(bytes)]).toEqual([index, id]);
      const proved = verifyIndex(HEADER.transactionsRoot, index, inclusion.nodes.map(fromBase64));
      expect(proved).toEqual(made.transactions[index]);
    }
  });

  it.each<[string, Partial<BlockOfBase>]>([
    ["JSON", { receipts: receiptsOfMade }],
    ["JSON with a padded type", { receipts: receiptsOfMade.map((receipt) => ({ ...receipt, type: "0x02" })) }],
    ["raw bytes", { rawReceipts: rawReceipts() }],
    ["JSON, the raw bytes being wrong", { receipts: receiptsOfMade, rawReceipts: rawReceipts().with(3, "0x02c0") }],
  ])("carries its receipt where %s reproduces the root", async (_, over) => {
    const { source } = await sourceOf(madeNode(over));
    const { inclusion } = await prove(source, NUMBER, ID);
    expect(receiptIn(inclusion, made.header)).toBeDefined();
  });

  it.each<[string, Partial<BlockOfBase>]>([
    ["no node gives any", {}],
    [
      "they do not reproduce the root",
      { receipts: receiptsOfMade.toSpliced(2, 1, { ...receiptsOfMade[2], status: "0x0" } as never) },
    ],
    ["one is missing", { receipts: receiptsOfMade.slice(1) }],
    ["they are malformed", { receipts: [{}], rawReceipts: ["nothing"] }],
  ])("leaves its receipt out where %s", async (_, over) => {
    const { source } = await sourceOf(madeNode(over));
    const { inclusion } = await prove(source, NUMBER, ID);
    expect(inclusion).not.toHaveProperty("receipt");
    expect(verifyIndex(HEADER.transactionsRoot, 7, inclusion.nodes.map(fromBase64))).toEqual(made.transactions[7]);
  });

  it("takes an opaque type by its raw bytes", async () => {
    const opaque = Uint8Array.of(0x79, ...new Uint8Array(90).fill(5));
    const hash = baseTxHash(opaque);
    const block = blockOf(testBaseTransaction(1), opaque);
    const json = { hash, type: "0x79", unknown: "0x01" };
    const transactions = block.transactions.map((transaction) => ({ ...transaction, json }));
    const { source } = await sourceOf(nodeWith({ ...block, transactions }));
    expect((await prove(source, NUMBER, hash)).bytes).toEqual(opaque);
  });

  it("is refused when the block's list of transactions is not the one under its root", async () => {
    const block = madeBlock();
    const { source, conflicts } = await sourceOf(nodeWith({ ...block, transactions: block.transactions.toReversed() }));
    await expect(prove(source, NUMBER, ID)).rejects.toMatchObject({ code: "providers_conflict" });
    expect(conflicts).toHaveLength(1);
  });

  it.each<[string, (list: BlockOfBase["transactions"]) => BlockOfBase["transactions"]]>([
    ["is in another order", (list) => list.toReversed()],
    ["has one that does not exist", (list) => list.with(3, { hash: `0x${"33".repeat(32)}` })],
    ["lacks the transaction", (list) => list.toSpliced(7, 1)],
  ])("is taken from a node with the whole list where another's %s", async (_, change) => {
    const block = madeBlock();
    const liar = nodeWith({ ...block, transactions: change(block.transactions) });
    const { source } = await sourceOf(liar, madeNode());
    expect((await prove(source, NUMBER, ID)).inclusion).toMatchObject({ index: 7 });
  });

  it("is refused when a transaction cannot be had", async () => {
    const block = madeBlock();
    const lost = block.transactions.map(({ hash, raw }, index) => (index === 3 ? { hash } : { hash, raw: raw ?? "" }));
    const { source } = await sourceOf(nodeWith({ ...block, transactions: lost }));
    await expect(prove(source, NUMBER, ID)).rejects.toMatchObject({ code: "source_unreadable" });
  });

  it("is refused when the block is replaced while it is built", async () => {
    const node = madeNode();
    const { source } = await sourceOf(node);
    const found = await (await source.block(NUMBER, never)).find(ID, never);
    const heads = node.methods.eth_getBlockByNumber;
    node.methods.eth_getBlockByNumber = (tag = "") => ({
      ...(heads?.(tag) as object),
      hash: `0x${"22".repeat(32)}`,
    });
    await expect(found?.prove(never)).rejects.toMatchObject({ code: "providers_unavailable" });
  });

  it("is refused for a transaction that names another chain", async () => {
    const [, ...fields] = decodeRlp(testBaseTransaction(1).subarray(1)) as RlpItem[];
    const foreign = Uint8Array.of(2, ...encodeRlp([Uint8Array.of(10), ...fields]));
    const { source } = await sourceOf(nodeWith(blockOf(foreign)));
    await expect(prove(source, NUMBER, baseTxHash(foreign))).rejects.toMatchObject({ code: "source_wrong_chain" });
  });
});

test("a proof whose time is up while nodes leave the receipts unanswered fails as the nodes' fault", async () => {
  const block = madeBlock();
  const { source } = await sourceOf(nodeWith(block));
  const [upstream] = open.slice(-1);
  const answer = upstream?.handler;
  const asked = Promise.withResolvers<void>();
  if (upstream)
    upstream.handler = (request, response) => {
      if (request.body.includes("Receipts")) asked.resolve();
      else answer?.(request, response);
    };
  const time = new AbortController();
  const found = await (await source.block(NUMBER, time.signal)).find(block.ids[3] as string, time.signal);
  const proved = found?.prove(time.signal);
  await asked.promise;
  time.abort(new DOMException("late", "TimeoutError"));
  await expect(proved).rejects.toMatchObject({ code: "providers_unavailable" });
});

describe("recorded blocks", () => {
  async function provesAll(block: BlockOfBase, receipts: boolean) {
    const { source, conflicts } = await sourceOf(nodeWith(block));
    const number = Number(block.header.number);
    const { header } = await source.block(number, never);
    for (const [index, { hash }] of block.transactions.entries()) {
      const { bytes, inclusion } = await prove(source, number, hash);
      const proved = verifyIndex(decodeBaseHeader(header).transactionsRoot, index, inclusion.nodes.map(fromBase64));
      expect(baseTxHash(proved ?? new Uint8Array())).toBe(hash);
      expect(bytes).toEqual(proved);
      expect(receiptIn(inclusion, header) !== undefined).toBe(receipts);
    }
    expect(conflicts).toEqual([]);
  }

  it.each(["op-sepolia-holocene-26207960", "op-sepolia-holocene-26207961"])("%s, from raw bytes", async (name) => {
    await provesAll(vectors.json(`replay/base/blocks/${name}.json`), false);
  });

  it("62 transactions from before Shanghai, from the JSON of the whole block", async () => {
    const { transactions, ...header } = vectors.json("base/goerli-pre-shanghai-block.json");
    const hashes: string[] = transactions.map(({ hash }: { hash: string }) => hash);
    const items = (await serializeTransactions(hashes, transactions)).filter((bytes) => bytes !== undefined);
    expect(items.map((bytes) => baseTxHash(bytes))).toEqual(hashes);
    for (const index of items.keys()) {
      const { root, nodes } = await proveItem(items, index);
      expect(`0x${toHex(root)}`).toBe(header.transactionsRoot);
      expect(verifyIndex(root, index, nodes)).toEqual(items[index]);
    }
    const node = nodeWith({
      hash: header.hash,
      header,
      transactions: transactions.map((of: { hash: string }) => ({ hash: of.hash, json: of })),
    });
    const { source } = await sourceOf(node);
    const { bytes } = await prove(source, Number(header.number), hashes[61] as string);
    expect(bytes).toEqual(items[61]);
    expect(node.calls.filter((method) => /^eth_getRaw|^eth_getTransactionByHash/.test(method))).toEqual([]);
  });

  it("a deposit alone, with its receipt", async () => {
    const { block, receipts } = vectors.json("base/opstack-canyon-block-274-full.json");
    const [{ hash, raw }] = block.transactions;
    const withBloom = receipts.map((receipt: object) => ({ ...receipt, logsBloom: block.logsBloom }));
    const { transactions: _, ...header } = block;
    await provesAll({ hash: block.hash, header, transactions: [{ hash, raw }], receipts: withBloom }, true);
  });
});

function rawReceipts(): string[] {
  return encodeReceipts(receiptsOfMade).map((bytes) => `0x${toHex(bytes)}`);
}

/** Makes a block of other transactions, with a matching header. */
function blockOf(...transactions: Uint8Array[]): BlockOfBase {
  const fields = [...HEADER.fields].map(([name, value]) =>
    name === "transactionsRoot" ? trieRoot(transactions) : value,
  );
  const header = encodeRlp(fields);
  return blockFromBytes(header, baseHeaderHash(header), transactions);
}
