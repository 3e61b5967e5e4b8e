import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { blockhash, type FakeSolanaNode, type Landed } from "../../../../test/fakes/solana-node.ts";
import { memo, payer, paying, SolanaWorld, stock, VERSION_1 } from "../../../../test/fakes/solana-payments.ts";
import type { SolanaPayment } from "./rail.ts";
import { usdcAccountOf } from "./token-account.ts";

let world: SolanaWorld;
beforeEach(() => {
  world = new SolanaWorld();
});
afterEach(() => world[Symbol.asyncDispose]());

const signal = () => AbortSignal.timeout(20_000);
const read = async (...over: Parameters<typeof paying>) => world.rail.read(await paying(...over));
const wireOf = ({ payload }: SolanaPayment) => payload.payload.transaction as string;
const status = (payment: SolanaPayment) => world.rail.status(payment, signal());
const spent = (payment: SolanaPayment) => world.rail.spent(payment, signal());
/** Makes another payment of the same payer. */
const another = (text: string) => read({ instructions: stock({ 3: memo(text) }) });

const OPEN = { state: "open" };
const EXPIRED = { state: "void", reason: "expired unspent: its blockhash is too old" };
const paid = ({ signature, slot }: Landed) => ({ state: "paid", transaction: signature, height: slot });

describe("the status of a Solana payment", () => {
  test("is open until its transaction is confirmed, and then paid", async () => {
    const node = await world.node();
    const payment = await read();
    expect(await status(payment)).toEqual(OPEN);
    const landed = node.land(wireOf(payment));
    expect(await status(payment)).toEqual(OPEN);
    world.pass(1);
    expect(await status(payment)).toEqual({ ...paid(landed), final: false });
    expect(await spent(payment)).toBe(true);
    world.pass(31);
    expect(await status(payment)).toEqual({ ...paid(landed), final: true });
  });

  test("is found among the payer's other payments, by their memos or without", async () => {
    const node = await world.node();
    const payment = await read();
    for (let i = 0; i < 20; i++)
      node.land(wireOf(await another(`other ${i}`)), { memo: i % 2 ? `[7] other ${i}` : null });
    const landed = node.land(wireOf(payment), { memo: `[32] ${"5eed".repeat(8)}` });
    for (let i = 20; i < 30; i++) node.land(wireOf(await another(`other ${i}`)), { memo: `[8] other ${i}` });
    world.pass(1);
    node.asked.length = 0;
    expect(await status(payment)).toMatchObject(paid(landed));
    expect(node.asked.filter((method) => method === "getTransaction")).toHaveLength(1);
    landed.memo = null;
    expect(await status(payment)).toMatchObject(paid(landed));
  });

  test("is found days later, beyond the first page of its payer's transactions", async () => {
    const node = await world.node();
    const payment = await read();
    const landed = node.land(wireOf(payment));
    const other = node.land(wireOf(await another("other")), { memo: "[5] other" });
    for (let i = 0; i < 1_500; i++) node.landed.unshift({ ...other, signature: `later${i}` });
    world.pass(1_000_000);
    expect(await status(payment)).toMatchObject(paid(landed));
    node.landed.splice(0, 0, ...Array.from({ length: 9_000 }, (_, i) => ({ ...other, signature: `still later${i}` })));
    await expect(spent(payment)).rejects.toThrow("lists more than 10000 transactions");
  });

  test("requests each of its payer's other payments once, where a node keeps no memos", async () => {
    const node = await world.node();
    const payment = await read();
    const others: string[] = [];
    for (let i = 0; i < 5; i++) others.push(node.land(wireOf(await another(`other ${i}`))).signature);
    world.pass(1);
    const asked = () => node.asked.filter((method) => method === "getTransaction").length;
    expect(await status(payment)).toEqual(OPEN);
    expect(asked()).toBe(others.length);
    expect(await status(payment)).toEqual(OPEN);
    expect(asked()).toBe(others.length);
    const landed = node.land(wireOf(payment));
    world.pass(1);
    for (let looks = 1; looks <= 2; looks++) {
      expect(await status(payment)).toMatchObject(paid(landed));
      expect(asked()).toBe(others.length + looks);
    }
  });

  test("without a memo is found, and is not compared with those that have one", async () => {
    const node = await world.node();
    const payment = await read({ instructions: stock().slice(0, 3) });
    const landed = node.land(wireOf(payment));
    for (let i = 0; i < 5; i++) node.land(wireOf(await another(`other ${i}`)), { memo: `[7] other ${i}` });
    world.pass(1);
    expect(await status(payment)).toMatchObject(paid(landed));
    expect(node.asked.filter((method) => method === "getTransaction")).toHaveLength(1);
  });

  test("is found in a short list while it is among the newest of a busy payer", async () => {
    const node = await world.node();
    const payment = await read();
    const other = node.land(wireOf(await another("other")), { memo: "[5] other" });
    for (let i = 0; i < 1_500; i++) node.landed.unshift({ ...other, signature: `earlier${i}` });
    const landed = node.land(wireOf(payment));
    for (let i = 0; i < 20; i++) node.landed.unshift({ ...other, signature: `later${i}` });
    world.pass(1);
    let listed = 0;
    node.distort = (method, answer) => {
      if (method === "getSignaturesForAddress") listed += (answer as unknown[]).length;
      return answer;
    };
    expect(await status(payment)).toMatchObject(paid(landed));
    expect(listed).toBeGreaterThan(20);
    expect(listed).toBeLessThanOrEqual(100);
  });

  test("is searched no further back than its blockhash can have been made, however new that is", async () => {
    const node = await world.node();
    const old = node.land(wireOf(await another("old")));
    for (let i = 0; i < 1_500; i++) node.landed.unshift({ ...old, signature: `old${i}` });
    world.pass(10_000);
    for (const age of [0, 20, 100]) {
      node.asked.length = 0;
      expect(await status(await read({ blockhash: blockhash(node.slot - age) }))).toEqual(OPEN);
      const searches = node.asked.filter((method) => /Signatures|Transaction$/.test(method));
      expect(searches).toEqual(["getSignaturesForAddress"]);
    }
  });

  test("is void also where its payer has made more transactions than a node lists", async () => {
    const node = await world.node();
    const old = node.land(wireOf(await another("old")));
    for (let i = 0; i < 12_000; i++) node.landed.unshift({ ...old, signature: `old${i}` });
    world.pass(10_000);
    const payment = await read({ blockhash: blockhash(node.slot) });
    expect(await status(payment)).toEqual(OPEN);
    world.pass(200);
    expect(await status(payment)).toEqual(OPEN);
    world.pass(64);
    expect(await status(payment)).toEqual(EXPIRED);
  });

  test("is void once its blockhash is too old in finalized slots, and not before", async () => {
    await world.node();
    const payment = await read();
    world.pass(130 + 32);
    expect(await status(payment)).toEqual(OPEN);
    world.pass(1);
    for (let slots = 0; slots < 64; slots++) {
      expect(await status(payment)).toEqual(OPEN);
      world.pass(1);
    }
    expect(await status(payment)).toEqual(EXPIRED);
    expect(await spent(payment)).toBe(false);
  });

  test("is open while its blockhash is too new for our node", async () => {
    const node = await world.node();
    const payment = await read({ blockhash: blockhash(node.slot + 30) });
    for (let slots = 0; slots < 30 + 150 + 32; slots += 4) {
      expect(await status(payment)).toEqual(OPEN);
      world.pass(4);
    }
  });

  test("is paid also when it lands at the last moment", async () => {
    const node = await world.node();
    const payment = await read();
    world.pass(130);
    const landed = node.land(wireOf(payment));
    world.pass(200);
    expect(await status(payment)).toMatchObject(paid(landed));
    expect(await spent(payment)).toBe(true);
  });

  test("is void once its failure is finalized, and not before", async () => {
    const node = await world.node();
    const payment = await read();
    const landed = node.land(wireOf(payment), { err: { InstructionError: [2, { Custom: 1 }] } });
    world.pass(31);
    expect(await status(payment)).toEqual(OPEN);
    world.pass(1);
    expect(await status(payment)).toEqual({ state: "void", reason: `failed on chain, in ${landed.signature}` });
    expect(await spent(payment)).toBe(false);
  });
});

describe("a Solana payment among other senders' transactions", () => {
  const account = String(usdcAccountOf(payer.address));

  const strange: [string, Uint8Array, Partial<Landed>][] = [
    ["of version 1", VERSION_1, { version: 1 }],
    ["of a version that no node gives us yet", VERSION_1, { version: 2 }],
    ["whose first byte is of no version that is known", Buffer.from("ff".repeat(300), "hex"), { version: 1 }],
    ["of one byte", Buffer.from([0x81]), { version: 1 }],
    ["of no bytes", Buffer.alloc(0), {}],
    ["with more signatures than bytes", Buffer.from([0x7f, 1, 2]), {}],
    ["of which the node keeps no outcome", VERSION_1, { version: 1, meta: null }],
    ["whose outcome is of no shape that we know", VERSION_1, { version: 1, meta: { err: 7, postTokenBalances: "?" } }],
  ];
  test.each(strange)("%s does not change that it is found, or becomes void", async (_, wire, over) => {
    const node = await world.node();
    const payment = await read();
    node.landAnother(account, wire, over);
    expect(await status(payment)).toEqual(OPEN);
    const landed = node.land(wireOf(payment));
    node.landAnother(account, wire, over);
    world.pass(1);
    expect(await status(payment)).toMatchObject(paid(landed));
    expect(await spent(payment)).toBe(true);
    const unspent = await another("unspent");
    world.pass(250);
    expect(await status(unspent)).toEqual(OPEN);
    expect(await spent(unspent)).toBe(false);
    world.pass(64);
    expect(await status(unspent)).toEqual(EXPIRED);
  });

  test("is found in one request while its payer's account is full of them", async () => {
    const node = await world.node();
    const payment = await read();
    for (let i = 0; i < 950; i++) node.landAnother(account, VERSION_1, { version: 1 });
    const landed = node.land(wireOf(payment));
    for (let i = 0; i < 3; i++) node.landAnother(account, VERSION_1, { version: 1 });
    world.pass(1);
    expect(await status(payment)).toMatchObject(paid(landed));
    expect(node.asked.filter((method) => method === "getTransaction")).toHaveLength(4);
  });

  test("costs each node at most 100 transactions a search, and each search continues where the last one ended", async () => {
    const node = await world.node();
    const payment = await read();
    const landed = node.land(wireOf(payment));
    for (let i = 0; i < 250; i++) node.landAnother(account, VERSION_1, { version: 1 });
    world.pass(1);
    const asked = () => node.asked.filter((method) => method === "getTransaction").length;
    for (const looks of [1, 2]) {
      await expect(status(payment)).rejects.toThrow("more transactions on");
      expect(asked()).toBe(100 * looks);
    }
    expect(await status(payment)).toMatchObject(paid(landed));
    expect(asked()).toBe(251);
  });
});

test("a node that answers with another transaction than the one that was asked for is not believed", async () => {
  const node = await world.node();
  const payment = await read();
  const landed = node.land(wireOf(payment));
  world.pass(1);
  const listed = { ...landed, wire: Buffer.from(landed.wire) };
  listed.wire.writeUInt8(9, 1);
  node.landed.splice(0, 1, listed);
  await expect(status(payment)).rejects.toThrow(`not ${landed.signature}`);
});

describe("several Solana nodes behind one balancer", () => {
  /** Makes a world of one URL with a lagging node behind it, which answers what a test sends there. */
  async function balanced(lag: number) {
    const [front, late] = [await world.node(), await world.node()];
    late.slot -= lag;
    world.nodes.length = 1;
    world.hidden.push(late);
    return { front, late };
  }

  test("one lags and lists the payer's transactions: the payment is never void", async () => {
    const { front, late } = await balanced(300);
    const payment = await read();
    front.balance = (method) => (method === "getSignaturesForAddress" ? late : front);
    world.pass(129);
    const landed = front.land(wireOf(payment));
    for (let looks = 0; looks < 40; looks++) {
      world.pass(10);
      await expect(status(payment)).rejects.toThrow("Minimum context slot has not been reached");
      await expect(spent(payment)).rejects.toThrow("Minimum context slot has not been reached");
    }
    late.slot = front.slot;
    late.landed.push(...front.landed);
    expect(await status(payment)).toMatchObject(paid(landed));
  });

  test("one lags and answers with its slot: a payment made at the true newest slot is never void", async () => {
    const { front, late } = await balanced(40);
    const payment = await read({ blockhash: blockhash(front.slot + 1) });
    world.pass(1);
    front.balance = (method, { commitment }) =>
      method === "isBlockhashValid" && commitment === "processed" ? late : front;
    // Pairs the finalized slot of one node with the newest slot of the other, which is hardly beyond it.
    await expect(status(payment)).rejects.toThrow("Minimum context slot has not been reached");
    for (let looks = 0; looks < 100; looks++) {
      world.pass(1);
      const seen = await status(payment).catch(() => OPEN);
      expect(seen).toEqual(OPEN);
    }
  });

  test("one ignores the option that names a slot: its answer does not count", async () => {
    const { front, late } = await balanced(40);
    const payment = await read();
    front.balance = (method, options) => {
      if (method !== "isBlockhashValid" || options.commitment !== "processed") return front;
      delete options.minContextSlot;
      return late;
    };
    await expect(status(payment)).rejects.toThrow("which is before");
  });

  test("one does not have the transaction where a page begins: its empty list is not the end", async () => {
    const { front, late } = await balanced(20);
    const payment = await read();
    const landed = front.land(wireOf(payment));
    const other = front.land(wireOf(await another("other")), { memo: "[5] other" });
    for (let i = 0; i < 60; i++) front.landed.unshift({ ...other, slot: other.slot + 10, signature: `later${i}` });
    late.landed.push(landed);
    world.pass(12);
    front.balance = (method, { before }) => (method === "getSignaturesForAddress" && before ? late : front);
    await expect(spent(payment)).rejects.toThrow("Minimum context slot has not been reached");
    front.balance = () => front;
    expect(await status(payment)).toMatchObject(paid(landed));
  });
});

describe("the payer of a Solana payment", () => {
  test("has the balance of its token account, or none without an account", async () => {
    const node = await world.node();
    const payment = await read();
    expect(await world.rail.balance(payment, signal())).toBe(0n);
    node.balances.set(String(usdcAccountOf(payer.address)), 2n ** 63n);
    expect(await world.rail.balance(payment, signal())).toBe(2n ** 63n);
  });
});

describe("a Solana node whose answers contradict one another", () => {
  const mint = "So11111111111111111111111111111111111111112";
  test.each<[string, string, (node: FakeSolanaNode, payment: SolanaPayment) => void]>([
    [
      "a transfer that moved another amount",
      "data that cannot be read",
      (node, payment) => {
        for (const balance of node.land(wireOf(payment)).after) balance.uiTokenAmount.amount = "1006";
      },
    ],
    [
      "a transfer of another token",
      "data that cannot be read",
      (node, payment) => {
        for (const balance of node.land(wireOf(payment)).after) balance.mint = mint;
      },
    ],
    [
      "a success without its error's absence",
      "data that cannot be read",
      (node, payment) => {
        const landed = node.land(wireOf(payment));
        node.distort = (method, answer) =>
          method === "getTransaction"
            ? { ...(answer as object), meta: { preTokenBalances: landed.before, postTokenBalances: landed.after } }
            : answer;
      },
    ],
    [
      "a listed transaction that is not there",
      "and does not have it",
      (node, payment) => {
        node.land(wireOf(payment));
        node.distort = (method, answer) => (method === "getTransaction" ? null : answer);
      },
    ],
    [
      "itself behind its cluster",
      "refused getHealth: Node is behind by 200 slots",
      (node) => {
        node.distort = (method, answer) => {
          if (method === "getHealth") throw new Error("Node is behind by 200 slots");
          return answer;
        };
      },
    ],
    [
      "another cluster",
      "is of the cluster of genesis EtWTRABZaYq6",
      (node) => {
        node.genesisHash = "EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG";
      },
    ],
  ])("%s: neither paid nor void, nor unspent", async (_, reason, distort) => {
    const node = await world.node();
    const payment = await read();
    distort(node, payment);
    world.pass(1);
    await expect(status(payment)).rejects.toMatchObject({
      code: "providers_unavailable",
      message: expect.stringContaining(reason),
    });
    await expect(spent(payment)).rejects.toMatchObject({ code: "providers_unavailable" });
  });

  test("another payment's transaction in place of ours: open", async () => {
    const node = await world.node();
    const payment = await read();
    node.land(wireOf(await another("other")));
    world.pass(1);
    expect(await status(payment)).toEqual(OPEN);
  });
});

describe("several Solana nodes", () => {
  test("one has not reached the slot: the payment is open, and no other payment is asked for", async () => {
    const [ahead, late] = [await world.node(), await world.node()];
    const payment = await read();
    const landed = ahead.land(wireOf(payment));
    world.pass(1);
    expect(await status(payment)).toEqual(OPEN);
    await expect(spent(payment)).rejects.toMatchObject({ code: "providers_unavailable" });
    late.landed.unshift(landed);
    expect(await status(payment)).toMatchObject(paid(landed));
    expect(await spent(payment)).toBe(true);
    expect(world.conflicts).toEqual([]);
  });

  test("one invents a payment: open while that is new, then a reported conflict", async () => {
    const [liar] = [await world.node(), await world.node()];
    const payment = await read();
    liar.land(wireOf(payment));
    world.pass(31);
    expect(await status(payment)).toEqual(OPEN);
    world.pass(1);
    await expect(status(payment)).rejects.toMatchObject({ code: "providers_conflict" });
    await expect(spent(payment)).rejects.toMatchObject({ code: "providers_conflict" });
    expect(world.conflicts).toHaveLength(2);
  });

  test("one shows it as failed: a reported conflict", async () => {
    const [one, two] = [await world.node(), await world.node()];
    const payment = await read();
    one.land(wireOf(payment));
    two.land(wireOf(payment), { err: "AccountInUse" });
    world.pass(1);
    await expect(status(payment)).rejects.toMatchObject({ code: "providers_conflict" });
  });

  test("one still accepts the blockhash: not void yet", async () => {
    const [, late] = [await world.node(), await world.node()];
    const payment = await read();
    world.pass(130 + 32);
    late.slot -= 40;
    for (let slots = 0; slots < 110; slots += 5) {
      expect(await status(payment)).toEqual(OPEN);
      world.pass(5);
    }
  });

  test("one is down: a payment that the other shows as expired, or failed, is not void yet", async () => {
    const [one, two] = [await world.node(), await world.node()];
    const [unspent, failed] = [await read(), await another("failed")];
    for (const node of [one, two]) node.land(wireOf(failed), { err: "AccountInUse" });
    const back = two.distort;
    two.distort = () => {
      throw new Error("down");
    };
    world.pass(130 + 32 + 1);
    const untold = { code: "providers_unavailable" };
    for (let slots = 0; slots < 300; slots += 50) {
      await expect(status(unspent)).rejects.toMatchObject(untold);
      await expect(status(failed)).rejects.toMatchObject(untold);
      world.pass(50);
    }
    two.distort = back;
    // Both nodes must have seen the slots in which the blockhash is too old.
    let seen = await status(unspent);
    for (let slots = 0; slots < 100 && seen.state === "open"; slots += 5) {
      world.pass(5);
      seen = await status(unspent);
    }
    expect(seen).toEqual(EXPIRED);
    expect(await status(failed)).toMatchObject({ state: "void", reason: expect.stringContaining("failed on chain") });
  });
});
