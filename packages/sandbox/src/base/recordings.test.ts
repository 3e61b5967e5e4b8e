import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPublicClient, type Hex, http, keccak256, toRlp } from "viem";
import { chainConfig, serializeTransaction } from "viem/op-stack";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { RECORDED } from "../../../proof/test/vectors.ts";
import { jsonRpcClient, type RpcCall } from "../jsonrpc.ts";
import { baseChain } from "./chain.ts";
import { type BaseNetwork, startBase } from "./network.ts";
import { readRecordings } from "./recordings.ts";

const replayDir = join(RECORDED, "replay");

describe("recorded blocks", () => {
  let base: BaseNetwork;
  let call: RpcCall;

  beforeAll(async () => {
    base = await startBase({ replayDir });
    call = jsonRpcClient(base.rpcUrl);
  });
  afterAll(() => base.close());

  test("are all served, with numbers below those of simulated blocks", async () => {
    const files = await readdir(join(replayDir, "base", "blocks"));
    expect(base.recordings).toHaveLength(files.length);
    const last = base.recordings.at(-1)?.number as number;
    for (const tag of ["earliest", "finalized", "safe", "latest"]) {
      const { number } = (await call("eth_getBlockByNumber", [tag, false])) as { number: Hex };
      expect(Number(number), tag).toBeGreaterThan(last);
    }
    expect(await call("eth_chainId", [])).toBe("0x2105");
  });

  test("are returned by number and by hash with the header of that hash", async () => {
    const client = createPublicClient({ chain: baseChain(base.rpcUrl), transport: http() });
    for (const { number, hash, header, transactions } of base.recordings) {
      const block = await client.getBlock({ blockNumber: BigInt(number) });
      expect(await client.getBlock({ blockHash: hash })).toEqual(block);
      expect(block).toMatchObject({ hash, number: BigInt(number), transactionsRoot: header.transactionsRoot });
      expect(block.transactions).toEqual(transactions.map(({ hash }) => hash));
      expect(await client.getBlockTransactionCount({ blockHash: hash })).toBe(transactions.length);
    }
  });

  test("return every transaction's exact bytes by hash and by index", async () => {
    for (const { number, hash: blockHash, transactions } of base.recordings) {
      const blockNumber = `0x${number.toString(16)}`;
      for (const { hash, index } of transactions) {
        const place = `0x${index.toString(16)}`;
        const answers = await Promise.all([
          call("eth_getRawTransactionByHash", [hash]),
          call("debug_getRawTransaction", [hash.toUpperCase().replace("0X", "0x")]),
          call("eth_getRawTransactionByBlockHashAndIndex", [blockHash, place]),
          call("eth_getRawTransactionByBlockNumberAndIndex", [blockNumber, place]),
        ]);
        expect(answers.map((raw) => keccak256(raw as Hex))).toEqual(answers.map(() => hash));
      }
      expect(await call("eth_getRawTransactionByBlockHashAndIndex", [blockHash, "0xffff"])).toBeNull();
    }
  });

  test("return JSON of every type that encodes to the same bytes", async () => {
    const client = createPublicClient({ chain: { ...baseChain(base.rpcUrl), ...chainConfig }, transport: http() });
    const types = new Set<string>();
    for (const { number, transactions } of base.recordings) {
      const block = await client.getBlock({ blockNumber: BigInt(number), includeTransactions: true });
      for (const [index, transaction] of block.transactions.entries()) {
        types.add(transaction.type);
        expect(transaction).toMatchObject({
          blockHash: block.hash,
          blockNumber: block.number,
          transactionIndex: index,
        });
        const { input: data, ...fields } = transaction;
        const raw =
          transaction.type === "legacy"
            ? legacyBytes(await call("eth_getTransactionByHash", [transaction.hash]))
            : serializeTransaction({ ...fields, data } as never);
        expect(keccak256(raw)).toBe(transactions[index]?.hash);
      }
    }
    expect([...types].sort()).toEqual(["deposit", "eip1559", "legacy"]);
  });

  test("return a receipt with a transaction's position, without members that were not recorded", async () => {
    const [block] = base.recordings;
    const transaction = block?.transactions[1];
    const receipt = await call("eth_getTransactionReceipt", [transaction?.hash]);
    expect(receipt).toMatchObject({
      transactionHash: transaction?.hash,
      transactionIndex: "0x1",
      blockHash: block?.hash,
      blockNumber: block?.header.number,
      status: "0x1",
    });
    for (const name of ["gasUsed", "cumulativeGasUsed", "logs"]) expect(receipt).not.toHaveProperty(name);
    await expect(call("eth_getBlockReceipts", [block?.header.number])).rejects.toMatchObject({ code: 4444 });
  });
});

/** Encodes a legacy transaction from its JSON, with `v` unchanged. */
function legacyBytes(json: unknown): Hex {
  const { nonce, gasPrice, gas, to, value, input, v, r, s } = json as Record<string, Hex>;
  const quantity = (hex: Hex | undefined): Hex => {
    const digits = BigInt(hex ?? 0).toString(16);
    return digits === "0" ? "0x" : `0x${digits.padStart(digits.length + (digits.length % 2), "0")}`;
  };
  const items = [
    ...[nonce, gasPrice, gas].map(quantity),
    to ?? "0x",
    quantity(value),
    input,
    ...[v, r, s].map(quantity),
  ];
  return toRlp(items as Hex[]);
}

describe("an inconsistent recording stops the start, with an error that names it", () => {
  let dir: string;
  let original: Record<string, unknown> & { transactions: { hash: string; raw: string }[] };

  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), "attestd-replay-"));
    await mkdir(join(dir, "base", "blocks"), { recursive: true });
    const source = join(replayDir, "base", "blocks");
    const [first] = (await readdir(source)).sort();
    original = JSON.parse(await readFile(join(source, first as string), "utf8"));
  });
  afterEach(() => rm(dir, { recursive: true }));

  const write = (name: string, recording: object | string) =>
    writeFile(join(dir, "base", "blocks", name), typeof recording === "string" ? recording : JSON.stringify(recording));

  test("a missing folder and a valid file are accepted", async () => {
    expect(await readRecordings(join(dir, "none"))).toEqual([]);
    await write("good.json", original);
    expect(await readRecordings(dir)).toHaveLength(1);
  });

  test.each([
    ["not JSON", () => "{", /bad\.json: /],
    [
      "a header of another hash",
      () => ({ ...original, hash: `0x${"00".repeat(32)}` }),
      /bad\.json: headerRlp does not/,
    ],
    ["another number", () => ({ ...original, number: 1 }), /bad\.json: number is 1, but headerRlp has/],
    [
      "a header that differs from its RLP",
      () => ({ ...original, header: { ...(original.header as object), gasUsed: "0x1" } }),
      /bad\.json: header\.gasUsed is 0x1, but headerRlp has/,
    ],
    [
      "other bytes of a transaction",
      () => ({ ...original, transactions: [{ ...original.transactions[0], raw: original.transactions[1]?.raw }] }),
      /bad\.json: transactions\[0\]\.raw does not have the hash/,
    ],
    ["no chain id", () => ({ ...original, chainId: "1" }), /bad\.json: chainId is not an integer/],
    ["no transactions", () => ({ ...original, transactions: {} }), /bad\.json: transactions is not a list/],
  ])("%s", async (_, recording, message) => {
    await write("bad.json", recording());
    await expect(readRecordings(dir)).rejects.toThrow(message);
    await expect(startBase({ replayDir: dir })).rejects.toThrow(message);
  });

  test("two files of one block", async () => {
    await write("a.json", original);
    await write("b.json", original);
    await expect(readRecordings(dir)).rejects.toThrow(/a\.json and .*b\.json both claim block \d+/);
  });
});
