import { createHash } from "node:crypto";
import { getTransactionDecoder } from "@solana/kit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { all, testReading } from "../../../../test/fakes/audit-reading.ts";
import { FakeSolanaNode } from "../../../../test/fakes/solana-node.ts";
import { payer, paying, payTo, stock, stranger, transfer, VERSION_1 } from "../../../../test/fakes/solana-payments.ts";
import { SolanaRpc } from "../../../providers/solana-rpc.ts";
import { solanaReader } from "./payment-reader.ts";
import { bytesOf, usdcAccountOf } from "./token-account.ts";
import { SOLANA } from "./usdc.ts";

const SLOT = 400_000_000;
const NOW = 1_760_000_000;
const EVERYTHING = { from: 0, to: SLOT };

let nodes: FakeSolanaNode[];
beforeEach(() => {
  nodes = [];
});
afterEach(async () => {
  await Promise.all(nodes.map((node) => node.close()));
});

async function node(): Promise<FakeSolanaNode> {
  const started = await FakeSolanaNode.start();
  nodes.push(started);
  return started;
}

function reader(page?: number) {
  const { rules, ask } = testReading();
  const rpcs = nodes.map(({ url }) => new SolanaRpc({ url }));
  return solanaReader({ rpcs, rules }, { now: () => NOW * 1000 }, ask, page);
}

async function wire(over: Parameters<typeof paying>[0] = {}): Promise<string> {
  return (await paying(over)).payload.transaction as string;
}

function keyOf(transaction: string): string {
  const { messageBytes } = getTransactionDecoder().decode(Buffer.from(transaction, "base64"));
  const id = createHash("sha256").update(new Uint8Array(messageBytes)).digest("hex");
  return `solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp/${id}`;
}

describe("payments on Solana", () => {
  test("have the key that the rail gives them, and are relayed when another pays their fee", async () => {
    const one = await node();
    const paid = await wire();
    const landed = one.land(paid);
    one.slot += 40;
    expect(await all(reader().payments([payTo], EVERYTHING))).toEqual([
      {
        rail: "solana",
        key: keyOf(paid),
        aliases: [],
        transaction: landed.signature,
        height: SLOT,
        payer: payer.address,
        payTo,
        amount: 1_000n,
        relayed: true,
      },
    ]);
    const byHand = one.land(await wire({ feePayer: payer.address }));
    const [payment] = await reader().inTransaction(byHand.signature, [payTo]);
    expect(payment).toMatchObject({ payer: payer.address, relayed: false, amount: 1_000n });
  });

  test("are none when they failed, went elsewhere, or moved another amount than they say", async () => {
    const one = await node();
    one.land(await wire(), { err: { InstructionError: [2, { Custom: 1 }] } });
    one.land(await wire({ instructions: stock({ 2: transfer({ to: stranger.address }) }) }));
    const odd = one.land(await wire());
    odd.after = odd.after.map((balance) => ({ ...balance, uiTokenAmount: { amount: "8" } }));
    one.slot += 40;
    const payments = await all(reader().payments([payTo], EVERYTHING));
    expect(payments).toMatchObject([{ transaction: odd.signature, amount: 1n, relayed: false }]);
    expect(payments[0]).not.toHaveProperty("key");
    expect(await reader().inTransaction("1".repeat(88), [payTo])).toEqual([]);
  });

  test("are distinguished from transactions of versions that we read, and of those that we do not", async () => {
    const one = await node();
    const paid = one.land(await wire());
    const account = String(usdcAccountOf(payTo));
    // A transfer of version 1 to the payee, whose account is one of the three that the transaction names.
    const named = VERSION_1.indexOf("8139770e", "hex");
    const moved = Buffer.from(VERSION_1);
    moved.set(bytesOf(account), named);
    const balance = (amount: string) => [{ accountIndex: 1, mint: SOLANA.asset, uiTokenAmount: { amount } }];
    const byHand = one.landAnother(account, moved, { version: 1, before: balance("7"), after: balance("12") });
    const newer = one.landAnother(account, moved, { version: 2 });
    one.slot += 40;
    const payments = await all(reader().payments([payTo], EVERYTHING));
    expect(payments.map(({ transaction, key, amount, height }) => ({ transaction, key, amount, height }))).toEqual([
      { transaction: newer.signature, key: undefined, amount: undefined, height: SLOT },
      { transaction: byHand.signature, key: undefined, amount: 5n, height: SLOT },
      { transaction: paid.signature, key: expect.any(String), amount: 1_000n, height: SLOT },
    ]);
    expect(await reader().inTransaction(newer.signature, [payTo])).toEqual([]);
  });

  test("are all found, page by page, and none beyond the span", async () => {
    const one = await node();
    const paid = await wire();
    for (let i = 0; i < 120; i++) {
      one.land(paid);
      if (i % 3 === 0) one.slot += 1;
    }
    const early = one.landed.at(-1)?.slot ?? 0;
    one.slot += 40;
    const to = one.slot - 40;
    const payments = await all(reader(25).payments([payTo], { from: early + 1, to: to - 1 }));
    expect(new Set(payments.map(({ transaction }) => transaction)).size).toBe(payments.length);
    expect(payments).toHaveLength(one.landed.filter(({ slot }) => slot > early && slot < to).length);
  });

  test("are the same of nodes of different heads, and a conflict where one leaves some out", async () => {
    const [one, two] = [await node(), await node()];
    for (const each of [one, two]) each.land(await wire());
    const later = await wire({ instructions: stock({ 2: transfer({ amount: 2_000n }) }) });
    for (const each of [one, two]) each.slot += 40;
    one.land(later);
    one.slot += 40;
    const { latest, final } = await reader().heads();
    expect([latest, final]).toEqual([SLOT + 39, SLOT + 8]);
    expect(await all(reader().payments([payTo], { from: 0, to: latest }))).toHaveLength(1);
    two.slot += 80;
    await expect(all(reader().payments([payTo], { from: 0, to: SLOT + 60 }))).rejects.toMatchObject({
      code: "providers_conflict",
    });
  });

  test("are read from before a time on", async () => {
    await node();
    expect(await reader().heightAt(NOW - 100, SLOT)).toBe(SLOT - 500);
    expect(await reader().heightAt(0, SLOT)).toBe(0);
    expect(await reader().heightAt(NOW + 100, SLOT)).toBe(SLOT);
  });
});
