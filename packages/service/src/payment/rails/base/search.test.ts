import type { Hex } from "viem";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { FakeBaseNode } from "../../../../test/fakes/base-node.ts";
import {
  BaseWorld,
  domain,
  NOW,
  nonce,
  type Overrides,
  payer,
  paying,
  payTo,
  stranger,
} from "../../../../test/fakes/base-payments.ts";

let world: BaseWorld;
beforeEach(() => {
  world = new BaseWorld();
});
afterEach(() => world[Symbol.asyncDispose]());

const signal = () => AbortSignal.timeout(20_000);
const read = async (over: Overrides = {}) => world.rail.read(await paying(over));
const transfer = { from: payer.address, to: payTo, value: 1000n, nonce };
const HOUR: Overrides = { validBefore: `${NOW + 3_600}` };

const refusal = (code: number, message: string) => Object.assign(new Error(message), { code });
const count = (node: FakeBaseNode, method: string) => node.calls.filter((asked) => asked === method).length;

/** Makes a node refuse queries for logs of more than `most` blocks. @returns the blocks of each query */
function limit(node: FakeBaseNode, most: number, refused: Error): number[] {
  const blocks: number[] = [];
  node.maxBlocks = Number.POSITIVE_INFINITY;
  node.distort = (method, answer, [filter]) => {
    if (method !== "eth_getLogs") return answer;
    const { fromBlock, toBlock } = filter as { fromBlock: Hex; toBlock: Hex };
    blocks.push(Number(toBlock) - Number(fromBlock) + 1);
    if ((blocks.at(-1) as number) > most) throw refused;
    return answer;
  };
  return blocks;
}

describe("the transaction that a facilitator names", () => {
  test("is looked at first: the payment in it is found without a query for logs, in whatever case it is written", async () => {
    const node = await world.node({ head: 5_000_000 });
    const payment = await read(HOUR);
    const transaction = node.use(node.latest, transfer);
    world.pass(1_800);
    const paid = { state: "paid", transaction, height: 5_000_000, final: true };
    for (const hint of [transaction, `0x${transaction.slice(2).toUpperCase()}`]) {
      const { rail } = world;
      node.calls.length = 0;
      expect(await rail.status(payment, signal(), hint)).toEqual(paid);
      const latestReceiptItsBlockFinalized = 4;
      expect(node.calls.filter((method) => method !== "eth_chainId")).toHaveLength(latestReceiptItsBlockFinalized);
      expect(count(node, "eth_getLogs")).toBe(0);
    }
  });

  const lies: [string, (node: FakeBaseNode) => string][] = [
    ["is not there", () => `0x${"77".repeat(32)}`],
    ["is no hash", () => "'; drop table calls"],
    ["is empty", () => ""],
    ["is another payer's payment", (node) => node.use(node.latest, { ...transfer, from: stranger.address })],
    [
      "is another payment of the payer",
      (node) => node.use(node.latest, { ...transfer, nonce: `0x${"11".repeat(32)}` }),
    ],
    [
      "failed",
      (node) => {
        const hash = node.use(node.latest, { ...transfer, nonce: `0x${"12".repeat(32)}` });
        Object.assign(node.receipts.get(hash) ?? {}, { status: 0 });
        return hash;
      },
    ],
    [
      "is in a block that was replaced",
      (node) => {
        const hash = node.use(node.latest, { ...transfer, nonce: `0x${"13".repeat(32)}` });
        Object.assign(node.receipts.get(hash) ?? {}, { blockHash: node.hashOf(1) });
        return hash;
      },
    ],
  ];
  test.each(lies)("is not believed where it %s: the payment is open, and is found where it is", async (_, lie) => {
    const node = await world.node();
    const [{ rail }, payment] = [world, await read()];
    const hint = lie(node);
    expect(await rail.status(payment, signal(), hint)).toEqual({ state: "open" });
    world.pass(1);
    const transaction = node.use(node.latest, transfer);
    expect(await rail.status(payment, signal(), hint)).toMatchObject({ state: "paid", transaction });
  });

  test("is not believed where it pays somebody else: the payment is void, as without a hint", async () => {
    const node = await world.node();
    const payment = await read();
    const hint = node.use(node.latest, { ...transfer, to: stranger.address });
    world.pass(20);
    const reason = `its nonce was spent on another transfer, in ${hint}`;
    expect(await world.rail.status(payment, signal(), hint)).toEqual({ state: "void", reason });
  });
});

describe("a node that answers for few blocks at once", () => {
  // Texts from the nodes' own sources and from reports of their users.
  test.each([
    ["Alchemy", -32600, "You can make eth_getLogs requests with up to a 10 block range. Based on your parameters, …"],
    ["Infura", -32005, "query returned more than 10000 results. Try with this block range [0x1, 0x2]."],
    ["Infura, by blocks", -32602, "range 1000000 exceeds limit of 10000"],
    ["QuickNode", -32614, "eth_getLogs is limited to a 10,000 range"],
    ["Tenderly", -32602, "invalid params"],
    ["drpc", 35, "ranges over 10000 blocks are not supported on freetier"],
    ["Avalanche", -32000, "requested too many blocks from 0 to 16777216, maximum is set to 2048"],
    ["reth", -32602, "query exceeds max block range 5000"],
    ["Erigon", -32000, "query block range exceeds server limit, narrow your filter: 10"],
    ["Erigon, by logs", -32000, "query returns too many logs, narrow your filter: 20000"],
    ["Morph's geth", -32000, "block range is larger than max block range, block range = 5120, max block range = 5000"],
  ])("is asked for half as many after each refusal of %s, and not refused again", async (_, code, message) => {
    const node = await world.node({ head: 5_000_000 });
    const payment = await read(HOUR);
    const [{ rail }, blocks] = [world, limit(node, 10, refusal(code, message))];
    const transaction = node.use(node.latest, transfer);
    const paid = { state: "paid", transaction, height: node.latest };
    expect(await rail.status(payment, signal())).toMatchObject(paid);
    expect(blocks).toEqual([1_000, 500, 250, 125, 62, 31, 15, 7]);
    world.pass(600);
    blocks.length = node.calls.length = 0;
    expect(await rail.status(payment, signal())).toMatchObject(paid);
    expect(blocks).toEqual([7, 1]);
    expect(node.calls.length).toBeLessThan(40);
  });

  test("is asked for twice as many after an hour without a refusal", async () => {
    const node = await world.node({ head: 5_000_000 });
    const payment = await read(HOUR);
    const [{ rail }, blocks] = [world, limit(node, 10, refusal(-32005, "limited to 10"))];
    const transaction = node.use(node.latest, transfer);
    await rail.status(payment, signal());
    for (const asked of [
      [14, 7],
      [14, 7],
    ]) {
      world.pass(3_600);
      blocks.length = 0;
      expect(await rail.status(payment, signal())).toMatchObject({ state: "paid", transaction });
      expect(blocks.slice(0, 2)).toEqual(asked);
    }
    limit(node, 20, refusal(-32005, "limited to 20"));
    world.pass(3_600);
    const learnt = limit(node, 20, refusal(-32005, "limited to 20"));
    await rail.status(payment, signal());
    world.pass(1);
    await rail.status(payment, signal());
    expect(learnt[0]).toBe(14);
    expect(learnt.every((asked) => asked <= 14)).toBe(true);
  });

  test("is asked for as many as the setting says", async () => {
    const node = await world.node({ head: 5_000_000 });
    const payment = await read(HOUR);
    const blocks = limit(node, 10, refusal(-32005, "limited to 10"));
    const transaction = node.use(node.latest, transfer);
    expect(await world.railOf(domain, 10).status(payment, signal())).toMatchObject({ state: "paid", transaction });
    expect(blocks).toEqual([10]);
  });

  test.each([
    ["one block", 0, -32005, "query returned more than 10000 results"],
    ["a node that is asked too often", Infinity, -32005, "daily request count exceeded, request rate limited"],
    ["a method that is missing", Infinity, -32601, "the method eth_getLogs does not exist"],
  ])("is not asked again and again: a refusal of %s shows nothing", async (_, most, code, message) => {
    const node = await world.node();
    const payment = await read();
    const blocks = limit(node, most === 0 ? 0 : -1, refusal(code, message));
    node.use(node.latest, transfer);
    await expect(world.rail.status(payment, signal())).rejects.toMatchObject({ code: "providers_unavailable" });
    expect(blocks.length).toBe(most === 0 ? 10 : 1);
  });

  test("and has pruned their state costs a bounded number of requests in each look, and each continues where the last one ended", async () => {
    const node = await world.node({ head: 5_000_000 });
    const payment = await read(HOUR);
    const rail = world.railOf(domain, 10);
    const transaction = node.use(node.latest, transfer);
    const used = node.latest;
    world.pass(300);
    node.distort = (method, answer, params) => {
      const isPruned = method === "eth_call" && Number(params[1]) < node.latest - 8;
      if (isPruned) throw refusal(-32000, "state at block #1 is pruned");
      return answer;
    };
    for (let looks = 1; ; looks++) {
      node.calls.length = 0;
      const found = await rail.status(payment, signal()).catch((error: Error) => error.message);
      expect(node.calls.length).toBeLessThan(90);
      if (typeof found !== "string") {
        expect(found).toMatchObject({ state: "paid", transaction, height: used });
        // 1,500 blocks, at most 250 in a look.
        expect(looks).toBe(7);
        return;
      }
      expect(found).toContain("than are searched at once");
      world.pass(1);
    }
  });
});

describe("nodes behind one balancer, of which one lags by some blocks", () => {
  /** Answers some questions of each kind like a node with an older head. */
  function lag(
    node: FakeBaseNode,
    times: number,
    asLate: Record<string, (answer: unknown, params: unknown[]) => unknown>,
  ) {
    const left = new Map(Object.keys(asLate).map((method) => [method, times]));
    node.distort = (method, answer, params) => {
      const late = asLate[method];
      const remaining = left.get(method) ?? 0;
      if (!late || remaining === 0) return answer;
      left.set(method, remaining - 1);
      return late(answer, params);
    };
  }

  const unknown = (message: string) => () => {
    throw refusal(-32000, message);
  };
  const kinds: [string, Record<string, (answer: unknown, params: unknown[]) => unknown>][] = [
    ["geth: the state", { eth_call: unknown("header not found") }],
    ["reth: the state", { eth_call: unknown("block not found: 0x186a0") }],
    ["a node that finds no logs", { eth_getLogs: () => [] }],
    ["geth: the logs", { eth_getLogs: unknown("block range extends beyond current head block") }],
    ["QuickNode: the logs", { eth_getLogs: unknown("One of the blocks specified in filter cannot be found.") }],
    ["a node without the receipt", { eth_getTransactionReceipt: () => null }],
    [
      "a node without the block",
      { eth_getBlockByNumber: (answer, [tag]) => (tag === "latest" || tag === "finalized" ? answer : null) },
    ],
  ];
  test.each(kinds)("(%s): it is asked again, and the payment is found", async (_, asLate) => {
    const node = await world.node();
    const [{ rail }, payment] = [world, await read()];
    const transaction = node.use(node.latest, transfer);
    for (const times of [1, 4]) {
      lag(node, times, asLate);
      expect(await rail.status(payment, signal())).toMatchObject({ state: "paid", transaction });
      lag(node, times, asLate);
      expect(await rail.spent(payment, signal())).toBe(true);
    }
    lag(node, 1_000, asLate);
    node.calls.length = 0;
    await expect(rail.status(payment, signal())).rejects.toMatchObject({ code: "providers_unavailable" });
    await expect(rail.spent(payment, signal())).rejects.toMatchObject({ code: "providers_unavailable" });
    expect(node.calls.length).toBeLessThan(80);
  });

  test("a head before one that was shown is not believed: the payment is neither open nor unspent", async () => {
    const node = await world.node();
    const [{ rail }, payment] = [world, await read()];
    expect(await rail.status(payment, signal())).toEqual({ state: "open" });
    node.use(node.latest, transfer);
    const behind = {
      number: "0x18698",
      hash: node.hashOf(99_992),
      timestamp: `0x${NOW.toString(16)}`,
      transactions: [],
    };
    const unused = `0x${"00".repeat(32)}`;
    lag(node, 1_000, { eth_getBlockByNumber: () => behind, eth_call: () => unused });
    await expect(rail.spent(payment, signal())).rejects.toThrow("answers from block 99992, and has shown block 100000");
    // There was a reorganisation, or the later head was false.
    world.now += 60;
    node.distort = (method, answer, [tag]) =>
      method === "eth_getBlockByNumber" && tag === "latest"
        ? { ...behind, timestamp: `0x${world.now.toString(16)}` }
        : answer;
    expect(await rail.status(payment, signal())).toEqual({ state: "open" });
  });
});
