import type { Hex } from "viem";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { FakeBaseNode } from "../../../../test/fakes/base-node.ts";
import {
  BaseWorld,
  NOW,
  nonce,
  type Overrides,
  payer,
  paying,
  payTo,
  stranger,
} from "../../../../test/fakes/base-payments.ts";
import type { BasePayment } from "./checks.ts";

let world: BaseWorld;
beforeEach(() => {
  world = new BaseWorld();
});
afterEach(() => world[Symbol.asyncDispose]());

const signal = () => AbortSignal.timeout(20_000);
const read = async (over: Overrides = {}) => world.rail.read(await paying(over));
const transfer = { from: payer.address, to: payTo, value: 1000n, nonce };

describe("the status of a Base payment", () => {
  const status = (payment: BasePayment) => world.rail.status(payment, signal());
  const spent = (payment: BasePayment) => world.rail.spent(payment, signal());

  test("is open while its nonce is unused, and paid once its transfer is in a block", async () => {
    const node = await world.node();
    const payment = await read();
    expect(await status(payment)).toEqual({ state: "open" });
    expect(await spent(payment)).toBe(false);
    world.pass(4);
    const transaction = node.use(node.latest, transfer);
    const paid = { state: "paid", transaction, height: node.latest };
    expect(await status(payment)).toEqual({ ...paid, final: false });
    expect(await spent(payment)).toBe(true);
    world.pass(20);
    expect(await status(payment)).toEqual({ ...paid, final: true });
  });

  test("is paid by its own pair of logs among many in one transaction", async () => {
    const node = await world.node();
    const others = [1, 2, 3].map((i) => ({ ...transfer, from: stranger.address, value: BigInt(i) }));
    const batch = [others[0], transfer, others[1]].map((each) => node.use(node.latest, each as typeof transfer));
    const logs = batch.flatMap((hash) => node.receipts.get(hash)?.logs ?? []);
    for (const hash of batch) node.receipts.delete(hash);
    const transaction = node.transaction(node.latest, logs);
    expect(await status(await read())).toMatchObject({ state: "paid", transaction, height: node.latest });
  });

  test("is found in blocks of 200 ms and of 2 s, at once and after days, within what hosts answer", async () => {
    for (const interval of [0.2, 2]) {
      world.now = NOW;
      const node = await world.node({ head: 5_000_000, interval });
      world.nodes.splice(0, 1, node);
      const payment = await read();
      world.pass(30);
      const transaction = node.use(node.latest, transfer);
      const paid = { state: "paid", transaction, height: node.latest };
      world.pass(3);
      expect(await status(payment)).toMatchObject(paid);
      world.pass(3 * 86_400);
      node.calls.length = 0;
      expect(await status(payment)).toMatchObject(paid);
      expect(node.calls.length).toBeLessThan(60);
    }
  });

  test.each([1_000, 10])(
    "is found at any moment of an hour's 18,000 blocks, then and days later, where a host answers for %i at once",
    async (maxBlocks) => {
      for (const seconds of [2, 1_800, 3_599]) {
        world.now = NOW;
        const node = await world.node({ head: 5_000_000 });
        for (const old of world.nodes.splice(0, world.nodes.length - 1)) await old.close();
        node.maxBlocks = maxBlocks;
        const payment = await read({ validBefore: `${NOW + 3_600}` });
        world.pass(seconds);
        const paid = { state: "paid", transaction: node.use(node.latest, transfer), height: node.latest };
        for (const later of [3, 3_600, 3 * 86_400]) {
          world.pass(later);
          node.calls.length = 0;
          expect(await status(payment)).toMatchObject(paid);
          expect(node.calls.length).toBeLessThan(40);
        }
      }
    },
  );

  test("is found within an hour's blocks by a node that has pruned their state", async () => {
    const node = await world.node({ head: 5_000_000 });
    const payment = await read({ validBefore: `${NOW + 3_600}` });
    const transaction = node.use(node.latest, transfer);
    const used = node.latest;
    world.pass(3 * 86_400);
    node.distort = (method, answer, params) => {
      const old = method === "eth_call" && Number(params[1]) < node.latest - 128;
      if (old) throw Object.assign(new Error("missing trie node"), { code: -32000 });
      return answer;
    };
    expect(await status(payment)).toMatchObject({ state: "paid", transaction, height: used });
  });

  test("takes one query for logs while it is among the newest blocks", async () => {
    const node = await world.node({ head: 5_000_000 });
    const payment = await read({ validBefore: `${NOW + 3_600}` });
    const transaction = node.use(node.latest, transfer);
    world.pass(100);
    expect(await status(payment)).toMatchObject({ state: "paid", transaction });
    expect(node.calls.filter((method) => method === "eth_getLogs")).toHaveLength(1);
    expect(node.calls.length).toBeLessThan(10);
  });

  test("is found outside its window of time where the host answers for all blocks, and is otherwise unknown", async () => {
    const node = await world.node();
    node.use(5, transfer);
    const payment = await read();
    await expect(spent(payment)).rejects.toMatchObject({ code: "providers_unavailable" });
    node.maxBlocks = Number.POSITIVE_INFINITY;
    expect(await spent(payment)).toBe(true);
  });

  test("is not void by the answer of one of two nodes, while the other is down", async () => {
    const [, two] = [await world.node(), await world.node()];
    const payment = await read();
    const back = two.distort;
    two.distort = () => {
      throw new Error("down");
    };
    world.pass(1_000);
    await expect(status(payment)).rejects.toMatchObject({ code: "providers_unavailable" });
    two.distort = back;
    expect(await status(payment)).toMatchObject({ state: "void" });
  });

  test("is void once its expiry is finalized, and not before", async () => {
    const node = await world.node();
    const payment = await read();
    world.pass(120);
    expect(await status(payment)).toEqual({ state: "open" });
    world.pass(19);
    expect(await status(payment)).toEqual({ state: "open" });
    world.pass(1);
    expect(node.timeOf(node.finalized)).toBe(NOW + 120);
    expect(await status(payment)).toEqual({ state: "void", reason: `expired unspent, at Unix time ${NOW + 120}` });
    expect(await spent(payment)).toBe(false);
  });

  test.each<[string, (node: FakeBaseNode) => Hex, string]>([
    ["cancelled", (node) => node.cancel(node.latest, transfer), "cancelled by its payer"],
    [
      "spent on someone else",
      (node) => node.use(node.latest, { ...transfer, to: stranger.address }),
      "its nonce was spent on another transfer",
    ],
    [
      "spent on another amount",
      (node) => node.use(node.latest, { ...transfer, value: 999n }),
      "its nonce was spent on another transfer",
    ],
  ])("%s is void once that is finalized, and not before", async (_, happen, reason) => {
    const node = await world.node();
    const payment = await read();
    const transaction = happen(node);
    expect(await status(payment)).toEqual({ state: "open" });
    world.pass(20);
    expect(await status(payment)).toEqual({ state: "void", reason: `${reason}, in ${transaction}` });
  });

  test("that moved another amount to us is spent on us; one that was cancelled, or moved to another payee, is not", async () => {
    const [node, payment] = [await world.node(), await read()];
    const only = (hash: Hex) => {
      for (const each of node.receipts.keys()) if (each !== hash) node.receipts.delete(each);
    };
    only(node.use(node.latest, { ...transfer, value: 1n }));
    expect(await spent(payment)).toBe(true);
    only(node.use(node.latest, { ...transfer, to: stranger.address }));
    expect(await spent(payment)).toBe(false);
    only(node.cancel(node.latest, transfer));
    expect(await spent(payment)).toBe(false);
  });
});

describe("a Base node whose answers contradict one another", () => {
  const word = (address: string): Hex => `0x${"00".repeat(12)}${address.slice(2).toLowerCase()}`;
  const ask = async () => {
    const payment = await read();
    return Promise.allSettled([world.rail.status(payment, signal()), world.rail.spent(payment, signal())]);
  };

  test.each<[string, string, (node: FakeBaseNode) => void]>([
    [
      "logs of another token",
      "has no log of it",
      (node) => {
        node.maxBlocks = Number.POSITIVE_INFINITY;
        const hash = node.use(node.latest, transfer);
        for (const log of node.receipts.get(hash)?.logs ?? []) log.address = stranger.address.toLowerCase();
      },
    ],
    [
      "a transfer of another token after the use",
      "data that cannot be read",
      (node) => {
        const log = node.receipts.get(node.use(node.latest, transfer))?.logs[1];
        if (log) log.address = stranger.address.toLowerCase();
      },
    ],
    [
      "a transfer that does not follow the use",
      "data that cannot be read",
      (node) => {
        const log = node.receipts.get(node.use(node.latest, transfer))?.logs[1];
        if (log) log.index += 1;
      },
    ],
    [
      "a transfer of another payer after the use",
      "data that cannot be read",
      (node) => {
        const log = node.receipts.get(node.use(node.latest, transfer))?.logs[1];
        if (log) log.topics[1] = word(stranger.address);
      },
    ],
    [
      "a use with no transfer",
      "data that cannot be read",
      (node) => void node.receipts.get(node.use(node.latest, transfer))?.logs.pop(),
    ],
    [
      "a failed transaction",
      "data that cannot be read",
      (node) => Object.assign(node.receipts.get(node.use(node.latest, transfer)) ?? {}, { status: 0 }),
    ],
    [
      "a receipt of another block",
      "does not show transaction",
      (node) => Object.assign(node.receipts.get(node.use(node.latest, transfer)) ?? {}, { blockHash: node.hashOf(1) }),
    ],
    [
      "a log in a block that was replaced",
      "does not show transaction",
      (node) => {
        node.use(node.latest - 1, transfer);
        node.hashOf = (block) =>
          `0x${(block === node.latest - 1 && node.calls.at(-1) === "eth_getBlockByNumber" ? "bb" : "aa").repeat(32)}`;
      },
    ],
    [
      "a used nonce without any log",
      "has no log of it",
      (node) => {
        node.maxBlocks = Number.POSITIVE_INFINITY;
        node.stateOnly.add(nonce);
      },
    ],
    [
      "a receipt that is gone",
      "does not show transaction",
      (node) => {
        node.use(node.latest, transfer);
        node.distort = (method, answer) => (method === "eth_getTransactionReceipt" ? null : answer);
      },
    ],
    [
      "a head of an hour ago",
      "has had no block since",
      (node) => {
        world.now += 3_600;
        node.use(node.latest, transfer);
      },
    ],
    ["a chain that is not Base", "is on chain 84532, not 8453", (node) => Object.assign(node, { chainId: 84532 })],
  ])("%s: neither paid nor void, nor unspent", async (_, reason, distort) => {
    distort(await world.node());
    const error = { code: "providers_unavailable", message: expect.stringContaining(reason) };
    const untold = { status: "rejected", reason: expect.objectContaining(error) };
    expect(await ask()).toEqual([untold, untold]);
  });

  test("an expiry finalized beyond its own head: still open", async () => {
    const node = await world.node();
    const payment = await read();
    world.pass(120);
    node.finalized = node.latest + 1_000;
    node.distort = (_, answer) =>
      answer ?? { number: "0xffffff", hash: node.hashOf(1), timestamp: "0xffffffff", transactions: [] };
    expect(await world.rail.status(payment, signal())).toEqual({ state: "open" });
  });
});

describe("several Base nodes", () => {
  test("one has not reached the block: the payment is open, and no other payment is asked for", async () => {
    const [ahead, late] = [await world.node(), await world.node()];
    const payment = await read();
    ahead.latest += 3;
    const transaction = ahead.use(ahead.latest, transfer);
    expect(await world.rail.status(payment, signal())).toEqual({ state: "open" });
    await expect(world.rail.spent(payment, signal())).rejects.toMatchObject({ code: "providers_unavailable" });
    late.latest += 3;
    late.receipts.set(transaction, ahead.receipts.get(transaction) as never);
    expect(await world.rail.status(payment, signal())).toMatchObject({
      state: "paid",
      transaction,
      height: ahead.latest,
    });
    expect(await world.rail.spent(payment, signal())).toBe(true);
    expect(world.conflicts).toEqual([]);
  });

  test("one invents a payment: a reported conflict", async () => {
    const [liar] = [await world.node(), await world.node()];
    liar.use(liar.latest - 10, transfer);
    const payment = await read();
    await expect(world.rail.status(payment, signal())).rejects.toMatchObject({ code: "providers_conflict" });
    await expect(world.rail.spent(payment, signal())).rejects.toMatchObject({ code: "providers_conflict" });
    expect(world.conflicts).toHaveLength(2);
  });

  test("one shows the transfer to another payee: a reported conflict", async () => {
    const [honest, liar] = [await world.node(), await world.node()];
    const transaction = honest.use(honest.latest, transfer);
    const receipt = structuredClone(honest.receipts.get(transaction)) as never;
    liar.receipts.set(transaction, receipt);
    const log = liar.receipts.get(transaction)?.logs[1];
    if (log) log.topics[2] = `0x${"00".repeat(12)}${stranger.address.slice(2).toLowerCase()}`;
    await expect(world.rail.status(await read(), signal())).rejects.toMatchObject({ code: "providers_conflict" });
  });

  test("of three, two outvote one", async () => {
    const [one, two, liar] = [await world.node(), await world.node(), await world.node()];
    const transaction = one.use(one.latest - 10, transfer);
    two.receipts.set(transaction, one.receipts.get(transaction) as never);
    liar.cancel(liar.latest - 10, transfer);
    const paid = { state: "paid", transaction, height: one.latest - 10 };
    expect(await world.rail.status(await read(), signal())).toMatchObject(paid);
  });

  test("one of two is down: the other's word is neither paid, nor void, nor unspent", async () => {
    const [one, down] = [await world.node(), await world.node()];
    one.use(one.latest, transfer);
    await down.close();
    const untold = { code: "providers_unavailable" };
    await expect(world.rail.status(await read(), signal())).rejects.toMatchObject(untold);
    await expect(world.rail.spent(await read(), signal())).rejects.toMatchObject(untold);
  });

  test("one of three is down, or has not reached the block: it is paid by the word of the others", async () => {
    const [one, two, late] = [await world.node(), await world.node(), await world.node()];
    for (const node of [one, two]) node.latest += 3;
    const transaction = one.use(one.latest, transfer);
    two.receipts.set(transaction, one.receipts.get(transaction) as never);
    const paid = { state: "paid", transaction };
    expect(await world.rail.status(await read(), signal())).toMatchObject(paid);
    await late.close();
    expect(await world.rail.status(await read(), signal())).toMatchObject(paid);
    expect(world.conflicts).toEqual([]);
  });
});
