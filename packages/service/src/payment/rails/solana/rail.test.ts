import { createHash } from "node:crypto";
import { AccountRole, type Address, type Instruction } from "@solana/kit";
import type { PaymentPayload } from "@x402/core/types";
import type { FacilitatorSvmSigner } from "@x402/svm";
import { ExactSvmScheme } from "@x402/svm/exact/client";
import { ExactSvmScheme as StockFacilitator } from "@x402/svm/exact/facilitator";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { serviceError } from "../../../../test/errors.ts";
import {
  computeLimit,
  computePrice,
  feePayer,
  memo,
  payer,
  paying,
  payload,
  payTo,
  requirement,
  SolanaWorld,
  stock,
  stranger,
  transfer,
  VERSION_1,
} from "../../../../test/fakes/solana-payments.ts";
import type { SolanaPayment } from "./rail.ts";
import { usdcAccountOf } from "./token-account.ts";
import { SOLANA } from "./usdc.ts";

let world: SolanaWorld;
beforeEach(() => {
  world = new SolanaWorld();
});
afterEach(() => world[Symbol.asyncDispose]());

async function checked(made: PaymentPayload, against = requirement): Promise<SolanaPayment | string> {
  try {
    const payment = world.rail.read(made);
    await world.rail.check(payment, against, AbortSignal.timeout(10_000));
    return payment;
  } catch (error) {
    expect(error).toEqual(serviceError("payment_refused"));
    return (error as Error).message;
  }
}

/** Makes an instruction of Lighthouse, with data that lighthouse-sdk 2.1.0 made. */
function lighthouse(data: string, ...accounts: NonNullable<Instruction["accounts"]>[number][]): Instruction {
  const programAddress = "L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95" as Address;
  return { programAddress, accounts, data: Buffer.from(data, "hex") };
}

const ASSERTIONS = {
  /** AssertTokenAccountMulti: amount >= 4000, and its owner's associated account. */
  tokenAccount: "0a000202a00f0000000000000408",
  /** AssertAccountInfoMulti: lamports >= 1000, no data. */
  accountInfo: "06000200e8030000000000000401000000000000000000",
  /** AssertSysvarClock: slot < 400000000. */
  clock: "0f00000084d7170000000003",
};

/** The answer of the stock facilitator if its simulation succeeds. */
function stockVerdict(made: PaymentPayload) {
  const unused = async () => "";
  const signer = {
    getAddresses: () => [feePayer.address],
    signTransaction: unused,
    simulateTransaction: async () => {},
    sendTransaction: unused,
    confirmTransaction: async () => {},
    getConfirmedTransaction: async () => null,
  };
  return new StockFacilitator(signer as unknown as FacilitatorSvmSigner).verify(made, requirement);
}

const wireOf = ({ payload }: PaymentPayload) => Buffer.from(payload.transaction as string, "base64");
const SYSTEM = "11111111111111111111111111111111" as Address;

describe("a Solana payment", () => {
  test("of the stock client is read, keyed by its message, checked, and has a valid signature", async () => {
    const node = await world.node();
    const client = new ExactSvmScheme(payer, { rpcUrl: node.url });
    const { payload: made } = await client.createPaymentPayload(2, requirement);
    const read = await checked({ x402Version: 2, accepted: requirement, payload: made });
    const message = Buffer.from(made.transaction as string, "base64").subarray(1 + 2 * 64);
    expect(read).toMatchObject({
      key: `solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp/${createHash("sha256").update(message).digest("hex")}`,
      aliases: [],
      payer: payer.address,
      payTo: usdcAccountOf(payTo),
      amount: 1000n,
      asset: SOLANA.asset,
    });
    expect(await world.rail.signature(read as SolanaPayment)).toBe("valid");
  });

  test("may cost its fee payer as much as the settings allow", async () => {
    const most = stock({ 0: computeLimit(50_000), 1: computePrice(100_000n) });
    expect(await checked(await paying({ instructions: most }))).toMatchObject({ amount: 1000n });
  });

  test("may end in assertions of Lighthouse, which Phantom and Solflare append, as stock facilitators take them", async () => {
    const target = { address: String(usdcAccountOf(payer.address)) as Address, role: AccountRole.READONLY };
    const { tokenAccount, accountInfo, clock } = ASSERTIONS;
    const guards = [lighthouse(tokenAccount, target), lighthouse(accountInfo, target), lighthouse(clock)];
    const limit = computeLimit(50_000);
    for (const instructions of [
      [...stock({ 0: limit }), ...guards],
      [...stock({ 0: limit }).slice(0, 3), ...guards, memo("x")],
      [...stock({ 0: limit }).slice(0, 3), ...guards, lighthouse(clock)],
    ]) {
      const made = await paying({ instructions });
      const read = await checked(made);
      expect(read).toMatchObject({ amount: 1000n, payer: payer.address });
      expect(await world.rail.signature(read as SolanaPayment)).toBe("valid");
      expect(await stockVerdict(made)).toMatchObject({ isValid: true, payer: payer.address });
    }
  });

  test("without a memo is accepted too", async () => {
    expect(await checked(await paying({ instructions: stock().slice(0, 3) }))).toMatchObject({ amount: 1000n });
  });

  test("has one key whatever its signatures, and only its payer's signature is valid", async () => {
    const made = await paying();
    const wire = wireOf(made);
    const forged = Buffer.from(wire);
    forged.fill(7, 1 + 64, 1 + 2 * 64);
    const unsigned = Buffer.from(wire);
    unsigned.fill(0, 1 + 64, 1 + 2 * 64);
    const changed = Buffer.from(wire);
    changed.writeUInt8(wire.readUInt8(wire.length - 2) ^ 1, wire.length - 2);
    const payments = [wire, forged, unsigned, changed].map((each) => world.rail.read(payload(each.toString("base64"))));
    const signatures = await Promise.all(payments.map((payment) => world.rail.signature(payment)));
    expect(signatures).toEqual(["valid", "invalid", "invalid", "invalid"]);
    const keys = payments.map(({ key }) => key);
    expect(keys[1]).toBe(keys[0]);
    expect(keys[2]).toBe(keys[0]);
    expect(keys[3]).not.toBe(keys[0]);
  });

  test("names our token account, which counts as our own address", () => {
    const { rail } = world;
    const ours = String(usdcAccountOf(payTo));
    expect([rail.sameAddress(ours, payTo), rail.sameAddress(payTo, ours), rail.sameAddress(payTo, payTo)]).toEqual([
      true,
      true,
      true,
    ]);
    expect(rail.sameAddress(ours, stranger.address)).toBe(false);
    expect(rail.sameAddress("not an address", payTo)).toBe(false);
  });

  const nonceAdvance: Instruction = {
    programAddress: SYSTEM,
    accounts: [
      { address: stranger.address, role: AccountRole.WRITABLE },
      { address: "SysvarRecentB1ockHashes11111111111111111111" as Address, role: AccountRole.READONLY },
      { address: payer.address, role: AccountRole.READONLY_SIGNER },
    ],
    data: Buffer.from([4, 0, 0, 0]),
  };
  const spend: Instruction = {
    programAddress: SYSTEM,
    accounts: [
      { address: feePayer.address, role: AccountRole.WRITABLE_SIGNER },
      { address: stranger.address, role: AccountRole.WRITABLE },
    ],
    data: Buffer.from([2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]),
  };
  const withAccounts = (instruction: Instruction, ...extra: NonNullable<Instruction["accounts"]>[number][]) => ({
    ...instruction,
    accounts: [...(instruction.accounts ?? []), ...extra],
  });
  const spender = { address: feePayer.address, role: AccountRole.WRITABLE_SIGNER };
  const readonly = { address: stranger.address, role: AccountRole.READONLY };
  const second = { ...transfer({ authority: stranger }).accounts?.[3] } as NonNullable<Instruction["accounts"]>[number];
  const strangersToken = { mint: stranger.address, source: stranger.address };

  test.each<[string, Instruction[], string]>([
    ["another amount", stock({ 2: transfer({ amount: 999n }) }), "moves 999, not 1000"],
    ["another token", stock({ 2: transfer(strangersToken) }), `moves the token ${stranger.address}, not`],
    ["another count of decimals", stock({ 2: transfer({ decimals: 9 }) }), "counts in 9 decimals"],
    ["another payee", stock({ 2: transfer({ to: stranger.address }) }), `not the associated token account of ${payTo}`],
    ["the payee's own address for its account", stock({ 2: transfer({ destination: payTo }) }), `goes to ${payTo}`],
    [
      "another's account as the source",
      stock({ 2: transfer({ source: stranger.address }) }),
      "does not come from the associated",
    ],
    ["the fee payer as the payer", stock({ 2: transfer({ authority: feePayer }) }), "the fee payer is the payer"],
    [
      "the fee payer's account as the source",
      stock({ 2: transfer({ source: String(usdcAccountOf(feePayer.address)) }) }),
      "does not come from the associated",
    ],
    [
      "another token program",
      stock({ 2: transfer({ program: "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb" }) }),
      "no TransferChecked of the token program",
    ],
    [
      "a plain Transfer",
      stock({ 2: { ...transfer(), data: Buffer.from([3, 232, 3, 0, 0, 0, 0, 0, 0]) } }),
      "no TransferChecked of the token program",
    ],
    [
      "a longer TransferChecked",
      stock({ 2: { ...transfer(), data: Buffer.concat([transfer().data as Buffer, Buffer.alloc(1)]) } }),
      "no TransferChecked of the token program",
    ],
    [
      "a TransferChecked of signers",
      stock({ 2: withAccounts(transfer(), readonly) }),
      "not a TransferChecked with one authority",
    ],
    ["a nonce advance", [nonceAdvance, ...stock()], "the first instruction does not set the limit of compute units"],
    ["a nonce advance at the end", [...stock(), nonceAdvance], "neither a memo of at most 256 bytes nor an assertion"],
    ["a nonce advance for a memo", stock({ 3: nonceAdvance }), "neither a memo"],
    ["a transfer of the fee payer's money", stock({ 3: spend }), "neither a memo"],
    ["a second transfer", stock({ 3: transfer() }), "neither a memo"],
    ["two memos", [...stock(), memo("again")], "the transaction has several memos"],
    ["a memo too long", stock({ 3: memo("x".repeat(257)) }), "neither a memo of at most 256 bytes"],
    [
      "five instructions after the transfer",
      [...stock(), ...Array.from({ length: 4 }, () => lighthouse(ASSERTIONS.clock))],
      "more than 4 instructions follow the transfer",
    ],
    [
      "Lighthouse before the transfer",
      stock({ 2: lighthouse(ASSERTIONS.clock), 3: transfer() }),
      "the third instruction",
    ],
    [
      "Lighthouse's MemoryWrite, paid by the fee payer",
      [...stock(), lighthouse("0000ff000000000800", spender)],
      "neither",
    ],
    ["Lighthouse's MemoryClose", [...stock(), lighthouse("0100ff", spender)], "neither"],
    ["Lighthouse's AssertMerkleTreeAccount", [...stock(), lighthouse(`1000${"00".repeat(37)}`, readonly)], "neither"],
    ["an instruction of Lighthouse that is not known", [...stock(), lighthouse("12", readonly)], "neither"],
    ["an empty instruction of Lighthouse", [...stock(), lighthouse("")], "neither"],
    [
      "an assertion of Lighthouse's test program",
      [
        ...stock(),
        { ...lighthouse(ASSERTIONS.clock), programAddress: "L1TEVtgA75k273wWz1s6XMmDhQY5i3MwcvKb4VbZzfK" as Address },
      ],
      "neither",
    ],
    [
      "an assertion that a third party signs",
      [...stock(), lighthouse(ASSERTIONS.clock, second)],
      "other accounts than the fee payer and the payer must sign",
    ],
    ["more than a packet holds", stock({ 3: memo("x".repeat(1_200)) }), "payload.transaction is not base64"],
    ["a memo with signers", stock({ 3: withAccounts(memo("x"), second) }), "neither a memo"],
    ["no limit", stock().slice(1), "the first instruction does not set the limit"],
    ["no price", [computeLimit(20_000), transfer(), memo("x")], "the second instruction does not set the price"],
    [
      "price and limit exchanged",
      stock({ 0: computePrice(1n), 1: computeLimit(20_000) }),
      "the first instruction does not set the limit",
    ],
    [
      "a limit that drains the fee payer",
      stock({ 0: computeLimit(50_001) }),
      "the limit of compute units is above 50000",
    ],
    [
      "a price that drains the fee payer",
      stock({ 1: computePrice(100_001n) }),
      "the price of a compute unit is above 100000 micro-lamports",
    ],
    [
      "what the stock facilitator lets the fee payer pay, 7,010,000 lamports",
      stock({ 0: computeLimit(1_400_000), 1: computePrice(5_000_000n) }),
      "the limit of compute units is above 50000",
    ],
    [
      "a request for heap",
      stock({ 0: { ...computeLimit(0), data: Buffer.from([1, 0, 0, 1, 0]) } }),
      "the first instruction does not set the limit",
    ],
    [
      "an account that only looks on",
      stock({ 0: withAccounts(computeLimit(20_000), readonly) }),
      "the first instruction does not set the limit",
    ],
    ["no transfer", [computeLimit(1), computePrice(1n), memo("x")], "no TransferChecked of the token program"],
    ["no instruction", [], "no TransferChecked of the token program"],
  ])("with %s is refused with the reason", async (_, instructions, reason) => {
    expect(await checked(await paying({ instructions }))).toContain(reason);
  });

  test.each<[string, () => Promise<PaymentPayload>, string]>([
    [
      "a fee payer that was not offered",
      () => paying({ feePayer: stranger.address }),
      `not the offered one, ${feePayer.address}`,
    ],
    ["its payer as the fee payer", () => paying({ feePayer: payer.address }), "the fee payer is not the offered one"],
    [
      "a legacy message",
      () => paying({ version: "legacy" }),
      "of version legacy, and scheme exact accepts only version 0",
    ],
    [
      "a transaction of version 1",
      async () => payload(VERSION_1.toString("base64")),
      "the transaction is of version 1, and scheme exact accepts only version 0",
    ],
    ["version 1", async () => ({ ...(await paying()), x402Version: 1 }), "x402Version is not 2"],
    [
      "the fee payer's signature",
      async () =>
        payload(
          wireOf(await paying())
            .fill(9, 1, 65)
            .toString("base64"),
        ),
      "the fee payer has signed already",
    ],
    ["no transaction", async () => payload(undefined), "payload.transaction is not base64"],
    ["a number for a transaction", async () => payload(5), "payload.transaction is not base64"],
    ["text that is not base64", async () => payload("####"), "payload.transaction is not base64"],
    ["bytes that are no transaction", async () => payload("AAAA"), "payload.transaction is not base64"],
    [
      "a byte too many",
      async () => payload(Buffer.concat([wireOf(await paying()), Buffer.alloc(1)]).toString("base64")),
      "payload.transaction is not base64",
    ],
    [
      "a byte too few",
      async () =>
        payload(
          wireOf(await paying())
            .subarray(0, -1)
            .toString("base64"),
        ),
      "payload.transaction is not base64",
    ],
    [
      "an unknown member",
      async () => ({ ...(await paying()), payload: { ...(await paying()).payload, signature: "x" } }),
      "payload has the member signature",
    ],
  ])("with %s is refused with the reason", async (_, make, reason) => {
    expect(await checked(await make())).toContain(reason);
  });

  test("that no client makes is refused: an unused account, a table, a third signer, a count in two bytes", async () => {
    const wire = wireOf(await paying());
    const at = 1 + 2 * 64;
    const accounts = wire.readUInt8(at + 4);
    const end = at + 5 + accounts * 32;
    const bystander = Buffer.concat([
      wire.subarray(0, at + 4),
      Buffer.from([accounts + 1]),
      wire.subarray(at + 5, end),
      Buffer.alloc(32, 3),
      wire.subarray(end),
    ]);
    expect(await checked(payload(bystander.toString("base64")))).toContain("names accounts that no instruction uses");
    const table = Buffer.concat([wire.subarray(0, -1), Buffer.from([1]), Buffer.alloc(32, 3), Buffer.from([1, 0, 0])]);
    expect(await checked(payload(table.toString("base64")))).toContain("takes accounts from an address table");
    const third = Buffer.concat([Buffer.from([3]), wire.subarray(1, at), Buffer.alloc(64), wire.subarray(at)]);
    third.writeUInt8(3, at + 64 + 1);
    expect(await checked(payload(third.toString("base64")))).toContain(
      "other accounts than the fee payer and the payer",
    );
    const wide = Buffer.concat([Buffer.from([0x82, 0]), wire.subarray(1)]);
    expect(await checked(payload(wide.toString("base64")))).toContain(
      "payload.transaction is not base64 of a canonical",
    );
    const wideWithin = Buffer.concat([
      wire.subarray(0, at + 4),
      Buffer.from([accounts | 0x80, 0]),
      wire.subarray(at + 5),
    ]);
    expect(await checked(payload(wideWithin.toString("base64")))).toContain(
      "payload.transaction is not base64 of a canonical",
    );
  });

  test("checked for another payee than its own is refused", async () => {
    const [made, other] = [await paying(), stranger.address];
    expect(await checked(made, { ...requirement, payTo: other })).toContain(
      `not the associated token account of ${other}`,
    );
    expect(await checked(made, { ...requirement, amount: "2000" })).toContain("moves 1000, not 2000");
    expect(
      await checked(await paying({ instructions: stock({ 2: transfer({ to: payer.address }) }) }), {
        ...requirement,
        payTo: payer.address,
      }),
    ).toContain("the payer is the payee");
  });
});
