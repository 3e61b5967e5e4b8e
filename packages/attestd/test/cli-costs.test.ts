import { expect, test } from "vitest";
import { attestd } from "../../../test/helpers/command.ts";

/** Runs `attestd costs` in words. @returns its JSON */
async function costs(line: string) {
  const { code, stdout, stderr } = await attestd(["costs", ...line.split(" "), "--json"]);
  expect([code, stderr]).toEqual([0, ""]);
  return JSON.parse(stdout);
}

/** What remains, and the price that covers the cost, of each rail without congestion. */
const margins = ({ rails }: { rails: { rail: string; usual: Record<string, string> }[] }) =>
  rails.map(({ rail, usual }) => [rail, usual.remains, usual.breakEven]);

/*
 * Computed by hand. A note: 0.001 ALGO (Algorand's minimum fee). CDP: $0.001. PayAI on 2026-09-22: 2.31 credits of $0.001
 * on Base, 1.52 on Solana. AWS KMS: $0.15 for 10,000 requests with asymmetric keys.
 */
test("what remains of a price is the price without settlement and note", async () => {
  const free = "--facilitator algorand=goplausible base=goplausible solana=goplausible";
  expect(margins(await costs(`--algo-price 0.20 ${free}`))).toEqual([
    ["algorand", "0.0008", "0.0002"],
    ["base", "0.0008", "0.0002"],
    ["solana", "0.0008", "0.0002"],
  ]);
  expect(margins(await costs("--algo-price 0.20 --facilitator base=cdp solana=cdp"))).toEqual([
    ["base", "-0.0002", "0.0012"],
    ["solana", "-0.0002", "0.0012"],
  ]);
  expect(margins(await costs("--algo-price 0.20 --facilitator base=payai solana=payai"))).toEqual([
    ["base", "-0.00151", "0.00251"],
    ["solana", "-0.00072", "0.00172"],
  ]);
});

/*
 * By hand: 0.001 + 1,000 × 0.0001 USDC; one settlement of 0.001, one note of 0.0002, three signatures of 0.000015; each of a
 * thousand items as many requests as a single call, 39 of 0.0000117; 32 KiB + 1,000 × 5 KiB of a GiB at 0.08 for 12 months.
 */
test("a batch is one settlement, one note and three signatures, and requests and disk for each item", async () => {
  const prices = "--signature-price 0.000015 --request-price base=0.0000117 --disk-price 0.08 --keep-months 12";
  const { rails, batch } = await costs(`--algo-price 0.20 --facilitator base=cdp --batch 1000 ${prices}`);
  expect(batch).toEqual({ items: 1000, itemPrice: "0.0001" });
  expect(rails[0]).toMatchObject({
    price: "0.101",
    settlement: "0.001",
    signatures: "0.000045",
    requests: "0.4563",
    disk: "0.004606933594",
    usual: { note: "0.0002", remains: "-0.361151933594" },
  });
  const cheap = await costs("--algo-price 0.20 --facilitator base=cdp --batch 1000 --item-price 0.00001 --per-day 10");
  // 300 batches at 0.011, of which 0.0012 is settlement and note; CDP settles 1,000 a month for nothing.
  expect(cheap.months[0]).toMatchObject({ revenue: "3.3", cost: "0.06" });
  for (const line of ["--item-price 0.1", "--batch 1", "--batch 1001"])
    expect(
      await attestd(["costs", "--algo-price", "0.2", "--facilitator", "base=cdp", ...line.split(" ")]),
    ).toMatchObject({ code: 2 });
});

test("every part of a cost is counted exactly, and a covering price is rounded up to whole micro-USDC", async () => {
  // 3 × 0.15 / 10,000; 2 × 0 + 39 × 26 CU × 0.45 / 10^6; 32 KiB of a GiB at 0.08 for 12 months: 0.96 / 32,768.
  const prices = "--signature-price 0.000015 --request-price base=0.0000117 --disk-price 0.08 --keep-months 12";
  const { rails } = await costs(`--algo-price 0.123457 --facilitator base=0.001 --price 0.0035 ${prices}`);
  expect(rails[0]).toMatchObject({
    settlement: "0.001",
    signatures: "0.000045",
    requests: "0.0004563",
    disk: "0.000029296875",
    usual: { note: "0.000123457", cost: "0.001654053875", remains: "0.001845946125", breakEven: "0.001655" },
    // Ten fees, and three.
    congested: { note: "0.00123457", breakEven: "0.002766" },
    falcon: { note: "0.000370371", breakEven: "0.001901" },
  });
});

test("a month counts a facilitator's free settlements, and what is paid without any sale", async () => {
  // 30,000 calls, of which CDP settles 1,000 for nothing: 29 + 6. 300 calls: 0 + 0.06.
  const many = await costs("--algo-price 0.2 --facilitator base=cdp --per-day 1000 --monthly 20");
  expect(many.months).toEqual([
    { rail: "base", calls: 30_000, revenue: "30", cost: "35", always: "20", remains: "-25" },
  ]);
  // Both keys are probed each minute: 2 × 1,440 × 30 × 0.000015.
  const kept = await costs("--algo-price 0.2 --facilitator base=0 --per-day 10 --signature-price 0.000015");
  expect(kept.months[0]).toMatchObject({ always: "1.296" });
  const few = await costs("--algo-price 0.2 --facilitator base=cdp --per-day 10 --monthly 0");
  expect(few.months).toEqual([
    { rail: "base", calls: 300, revenue: "0.3", cost: "0.06", always: "0", remains: "0.24" },
  ]);
});

test("the ALGO on the account lasts until the minimum balance and the reserve, 0.1 each, are what is left", async () => {
  const { algo } = await costs("--algo-price 0.2 --facilitator base=cdp --per-day 1000 --algo 10");
  expect(algo).toEqual({
    spendable: "9.9",
    usual: { attestations: 9_800, days: 9 },
    congested: { attestations: 980, days: 0 },
    falcon: { attestations: 3_266, days: 3 },
  });
  const { algo: empty } = await costs("--algo-price 0.2 --facilitator base=cdp --algo 0.15");
  expect(empty).toMatchObject({ spendable: "0.05", usual: { attestations: 0 } });
});

test("each rail has its own price where one is named", async () => {
  const { rails } = await costs("--algo-price 0.2 --facilitator base=0 solana=0 --price 0.002 solana=0.003");
  expect(rails.map(({ price }: { price: string }) => price)).toEqual(["0.002", "0.003"]);
});

test("people get a table, with where each price comes from", async () => {
  const { stdout } = await attestd(
    "costs --algo-price 0.2 --facilitator base=cdp solana=0.002 --per-day 50 --algo 1".split(" "),
  );
  expect(stdout).toMatch(/price +0\.001 +0\.001\n/);
  expect(stdout).toMatch(/remains +-0\.0002 +-0\.0012\n/);
  expect(stdout).toContain("base is settled by cdp, prices of 2026-11-22; 1000 settlements a month are free");
  expect(stdout).toContain("solana is settled at the price that --facilitator names");
  expect(stdout).toContain("800 attestations of 0.001 ALGO: 16 days at 50 a day");
});

test.each([
  ["", "required option '--algo-price <usd>' not specified"],
  ["--algo-price 0.2", "--facilitator algorand=goplausible base=cdp"],
  ["--algo-price 0,2 --facilitator base=cdp", "--algo-price 0,2 is no amount"],
  ["--algo-price -1 --facilitator base=cdp", "--algo-price -1 is no amount"],
  ["--algo-price 0.1234567 --facilitator base=cdp", "has more than 6 decimals"],
  ["--algo-price 0.2 --facilitator algorand=cdp", "cdp does not serve algorand"],
  ["--algo-price 0.2 --facilitator base=coinbase", "base=coinbase is no price"],
  ["--algo-price 0.2 --facilitator cdp", "Write NAME=VALUE, with a name of algorand, base, solana"],
  ["--algo-price 0.2 --facilitator base=cdp base=payai", "--facilitator names base twice"],
  ["--algo-price 0.2 --facilitator base=cdp --price solana=1", "--price names solana, on which nothing is sold"],
  ["--algo-price 0.2 --facilitator base=cdp --per-day 0", "--per-day 0 is no number from 1"],
  ["--algo-price 0.2 --facilitator base=cdp --request-price rpc=1", "with a name of algod, indexer, base, solana"],
])("costs %s: %s", async (line, message) => {
  const { code, stdout, stderr } = await attestd(["costs", ...line.split(" ").filter(Boolean)]);
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toContain(message);
});
