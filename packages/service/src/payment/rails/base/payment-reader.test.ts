import { encodeEventTopics, type Hex, numberToHex, padHex, parseAbi } from "viem";
import { afterEach, describe, expect, test } from "vitest";
import { all, testReading } from "../../../../test/fakes/audit-reading.ts";
import { FakeBaseNode } from "../../../../test/fakes/base-node.ts";
import { json, Upstream } from "../../../../test/fakes/providers.ts";
import { EthereumRpc } from "../../../providers/ethereum-rpc.ts";
import { baseReader } from "./payment-reader.ts";

const TIME = 1_760_000_000;
const HEAD = 50_000;
const address = (digit: string): Hex => `0x${digit.repeat(40)}`;
const [payer, payee, stranger] = [address("a"), address("B"), address("c")];
const nonce = (n: number): Hex => padHex(numberToHex(n), { size: 32 });
const [TRANSFER] = encodeEventTopics({
  abi: parseAbi(["event Transfer(address indexed from, address indexed to, uint256 value)"]),
  eventName: "Transfer",
});
const topic = (value: Hex) => padHex(value.toLowerCase() as Hex, { size: 32 });

/** A transfer without an authorization. */
const plainTransfer = (from: Hex, to: Hex, value: bigint) => ({
  topics: [TRANSFER, topic(from), topic(to)],
  data: padHex(numberToHex(value), { size: 32 }),
});

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

/** A node behind a proxy that resolves a `null` in a filter (any topic), and counts the requests for logs. */
async function node(): Promise<{ chain: FakeBaseNode; url: string; ranges: number[] }> {
  const chain = await FakeBaseNode.start({ time: TIME, head: HEAD, interval: 2 });
  const ranges: number[] = [];
  const proxy = await Upstream.start(async (request, response) => {
    const call = JSON.parse(String(request.body));
    if (call.method === "eth_getLogs") {
      const [filter] = call.params;
      ranges.push(Number(filter.toBlock) - Number(filter.fromBlock) + 1);
      const topics = [...chain.receipts.values()].flatMap(({ logs }) => logs.flatMap(({ topics }) => topics));
      filter.topics = filter.topics.map((topic: unknown) => topic ?? topics);
    }
    const answer = await fetch(chain.url, { method: "POST", body: JSON.stringify(call) });
    json(response, await answer.json());
  });
  closing.push(
    () => proxy.close(),
    () => chain.close(),
  );
  return { chain, url: proxy.url, ranges };
}

function readerOf(...nodes: { url: string }[]) {
  const { rules, ask, conflicts } = testReading();
  const rpcs = nodes.map(({ url }) => new EthereumRpc({ url }, 8453));
  return { reader: baseReader({ rpcs, rules }, ask, 10_000), conflicts };
}

const EVERYTHING = { from: 0, to: HEAD };

describe("payments on Base", () => {
  test("have the key of the authorization that they came by; transfers by hand have none", async () => {
    const { chain, url } = await node();
    const paid = chain.use(40_000, { from: payer, to: payee, value: 1_000n, nonce: nonce(1) });
    const byHand = chain.transaction(40_001, [plainTransfer(stranger, payee, 1_000n)]);
    chain.use(40_002, { from: payer, to: stranger, value: 1_000n, nonce: nonce(2) });
    chain.transaction(40_003, [plainTransfer(payee, stranger, 1_000n)]);
    chain.transaction(40_004, [plainTransfer(stranger, payee, 0n)], 1);
    chain.transaction(40_005, [{ ...plainTransfer(stranger, payee, 5n), address: address("d") }]);
    const { reader } = readerOf({ url });
    const payments = await all(reader.payments([payee], { from: 40_000, to: 40_003 }));
    expect(payments).toEqual([
      {
        rail: "base",
        key: `eip155:8453/0x833589fcd6edb6e08f4c7c32d4f71b54bda02913/${payer}/${nonce(1)}`,
        aliases: [],
        transaction: paid,
        height: 40_000,
        payer: expect.stringMatching(/^0xa{40}$/i),
        payTo: payee,
        amount: 1_000n,
        relayed: true,
      },
      expect.objectContaining({ transaction: byHand, amount: 1_000n, relayed: false }),
    ]);
    expect(payments[1]?.key).toBeUndefined();
  });

  test("of one transaction are distinct, and each is of the use right before it", async () => {
    const { chain, url } = await node();
    const { receipts } = chain;
    const one = chain.use(40_000, { from: payer, to: payee, value: 1_000n, nonce: nonce(1) });
    const two = chain.use(40_000, { from: payer, to: payee, value: 2_000n, nonce: nonce(2) });
    const [first, second] = [receipts.get(one), receipts.get(two)];
    const moved = second?.logs.map((log, i) => ({ ...log, index: 20 + i, transaction: one })) ?? [];
    receipts.set(one, { status: 1, logs: [...(first?.logs ?? []), ...moved] });
    receipts.delete(two);
    const { reader } = readerOf({ url });
    const payments = await all(reader.payments([payee], EVERYTHING));
    expect(payments.map(({ key, amount }) => [key?.slice(-1), amount])).toEqual([
      ["1", 1_000n],
      ["2", 2_000n],
    ]);
    expect(await reader.inTransaction(one, [stranger])).toEqual([]);
    expect(await reader.inTransaction(one, [payee, stranger])).toHaveLength(2);
  });

  test("are found in pieces of a size that the node takes", async () => {
    const { chain, url, ranges } = await node();
    for (let n = 1; n <= 5; n++) chain.use(n * 9_999, { from: payer, to: payee, value: 1_000n, nonce: nonce(n) });
    const { reader } = readerOf({ url });
    const heights = (await all(reader.payments([payee], EVERYTHING))).map(({ height }) => height);
    expect(heights).toEqual([9_999, 19_998, 29_997, 39_996, 49_995]);
    expect(ranges[0]).toBe(10_000);
    // The fake accepts 1,000: the sizes settle below it, and each piece that is too large costs one request.
    expect(ranges.filter((blocks) => blocks <= 1_000).reduce((sum, blocks) => sum + blocks, 0)).toBe(HEAD + 1);
    expect(ranges.length).toBeLessThan(200);
  });

  test("are found where the node takes ten blocks at once, which it refuses to exceed some twenty times in all", async () => {
    const { chain, url, ranges } = await node();
    chain.maxBlocks = 10;
    for (const height of [47_500, 48_001, 49_999])
      chain.use(height, { from: payer, to: payee, value: 1_000n, nonce: nonce(height) });
    const payments = await all(readerOf({ url }).reader.payments([payee], { from: 47_500, to: HEAD }));
    expect(payments.map(({ height }) => height)).toEqual([47_500, 48_001, 49_999]);
    expect(ranges.filter((blocks) => blocks > 10).length).toBeLessThan(20);
    expect(ranges.length).toBeLessThan(2_500 / 10 + 30);
  });

  test("that failed, or that a node makes up, are none", async () => {
    const { chain, url } = await node();
    const failed = chain.transaction(40_000, [plainTransfer(payer, payee, 1_000n)], 0);
    const { reader } = readerOf({ url });
    expect(await reader.inTransaction(failed, [payee])).toEqual([]);
    expect(await reader.inTransaction(nonce(9), [payee])).toEqual([]);
    await expect(all(reader.payments([payee], { from: 39_999, to: 40_000 }))).rejects.toThrow("has no receipt");
  });

  test("that one of two nodes leaves out are a conflict", async () => {
    const [one, two] = [await node(), await node()];
    one.chain.use(40_000, { from: payer, to: payee, value: 1_000n, nonce: nonce(1) });
    const { reader } = readerOf(one, two);
    await expect(all(reader.payments([payee], EVERYTHING))).rejects.toMatchObject({ code: "providers_conflict" });
  });

  test("are read up to the head that every node has, and from a time on", async () => {
    const [ahead, behind] = [await node(), await node()];
    ahead.chain.pass(100);
    const { reader } = readerOf(ahead, behind);
    expect(await reader.heads()).toEqual({ latest: HEAD, final: HEAD - 100 });
    expect(await reader.heightAt(behind.chain.timeOf(30_000), HEAD)).toBe(30_000);
    expect(await reader.heightAt(0, HEAD)).toBe(0);
  });
});
