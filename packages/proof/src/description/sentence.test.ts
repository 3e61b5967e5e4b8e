import fc from "fast-check";
import { encodeFunctionData, getContractAddress, type Hex, parseAbi } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { describe, expect, it } from "vitest";
import { testBaseBlock, testBlockBundle, testBundle, testInclusionBundle } from "../../../../test/bundles/bundles.ts";
import { encodeMsgpack } from "../algorand/index.ts";
import { encodeRlp } from "../base/index.ts";
import type { Bundle } from "../bundle.ts";
import { fromBase64, fromHex, utf8 } from "../encoding.ts";
import { RAILS } from "../rails.ts";
import {
  type Circumstances,
  circumstancesOf,
  dateline,
  headline,
  outcomeWords,
  sentenceOf,
  subjectOf,
} from "./index.ts";

const TIME = Date.UTC(2026, 10, 21, 14, 3, 7) / 1000;
const SANDBOX = "algorand:ekIDYRawz1wXUrUbmwqm24YRNU6KFFKF";
const BLOCK = { hash: "", height: 1, time: TIME };
const payer = privateKeyToAccount(`0x${"46".repeat(32)}`);
const PAYEE: Hex = `0x${"b2".repeat(20)}`;
const TOKEN = parseAbi([
  "function transfer(address to, uint256 value)",
  "function transferFrom(address from, address to, uint256 value)",
  "function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)",
  "function approve(address spender, uint256 value)",
]);
const FEES = { chainId: 8453, nonce: 3, gas: 60_000n, maxFeePerGas: 2n, maxPriorityFeePerGas: 1n } as const;

async function onBase(to: Hex | null, data: Hex, value = 0n, ledger?: string): Promise<Bundle> {
  const raw = await payer.signTransaction({ ...FEES, type: "eip1559", to, data, value });
  return testBundle({ chain: "base", txnBytes: fromHex(raw.slice(2)), ...(ledger && { ledger }) });
}
const usdc = (data: Hex) => onBase(RAILS.base.usdc as Hex, data);
const transfer = encodeFunctionData({ abi: TOKEN, functionName: "transfer", args: [PAYEE, 25_000_000n] });

/** Returns the sentence; ids that a test is not about are shortened. */
function say(bundle: Bundle, outcome: Circumstances["outcome"], time: number | undefined = TIME): string {
  const block = { hash: "", height: 1, ...(time !== undefined && { time }) };
  const subject = subjectOf(bundle);
  const names = new Map([
    [payer.address.toLowerCase(), "X"],
    [PAYEE, "Y"],
    [subject.transaction?.id, "Z"],
  ]);
  return sentenceOf(subject, { block, outcome }, { id: (id) => names.get(id.toLowerCase()) ?? names.get(id) ?? id });
}

describe("the sentence about a transaction on Base", () => {
  it("says when, who, how much, to whom, and that it succeeded", async () => {
    const bundle = await usdc(transfer);
    expect(say(bundle, "succeeded")).toBe(
      "On 21 November 2026 at 14:03:07 UTC, account X sent 25.00 USDC to account Y in transaction Z on Base. It succeeded.",
    );
  });

  it("says nothing came about that did not, or is not known to", async () => {
    const bundle = await usdc(transfer);
    expect(say(bundle, "failed")).toBe(
      "On 21 November 2026 at 14:03:07 UTC, account X tried to send 25.00 USDC to account Y in transaction Z on Base. It failed: nothing moved. Its network fee was paid.",
    );
    const subject = subjectOf(bundle);
    expect(sentenceOf(subject, { outcome: "unknown" }, { id: () => "_" })).toBe(
      "Account _ asked to send 25.00 USDC to account _ in transaction _ on Base. Whether it succeeded is not known.",
    );
    expect(headline(subject, "failed")).toEqual({
      title: "Failed on Base: nothing moved",
      detail: "Tried: USDC transfer on Base, 25.00 USDC",
    });
    expect(headline(subject, "unknown")).toEqual({
      title: "USDC transfer on Base, 25.00 USDC",
      detail: "Whether it succeeded is not known",
    });
    expect(headline(subject, "succeeded")).toEqual({ title: "USDC transfer on Base, 25.00 USDC" });
  });

  it.each<[string, () => Promise<Bundle>, string]>([
    [
      "an authorization that another account submits",
      () =>
        usdc(
          encodeFunctionData({
            abi: TOKEN,
            functionName: "transferWithAuthorization",
            args: [PAYEE, payer.address, 1_000n, 0n, 9n, `0x${"11".repeat(32)}`, "0x"],
          }),
        ),
      "account Y sent 0.001 USDC to account X in transaction Z on Base, submitted by account X, which paid the network fee. It succeeded.",
    ],
    [
      "an allowance that is used",
      () => usdc(encodeFunctionData({ abi: TOKEN, functionName: "transferFrom", args: [PAYEE, payer.address, 1n] })),
      "account X moved 0.000001 USDC from account Y to itself in transaction Z on Base. It succeeded.",
    ],
    [
      "an approval",
      () => usdc(encodeFunctionData({ abi: TOKEN, functionName: "approve", args: [PAYEE, 2n ** 256n - 1n] })),
      "account X allowed account Y to spend an unlimited amount of USDC in transaction Z on Base. It succeeded.",
    ],
    [
      "an approval that is withdrawn",
      () => usdc(encodeFunctionData({ abi: TOKEN, functionName: "approve", args: [PAYEE, 0n] })),
      "account X withdrew the USDC allowance of account Y in transaction Z on Base. It succeeded.",
    ],
    [
      "a payment to itself",
      () => onBase(payer.address, "0x", 10n ** 18n),
      "account X sent 1 ETH to itself in transaction Z on Base. It succeeded.",
    ],
    [
      "a call, whose inside its bytes do not show",
      () => onBase(PAYEE, transfer, 1n),
      "account X called account Y (function 0xa9059cbb) with 0.000000000000000001 ETH in transaction Z on Base. It succeeded. Its bytes show the call, not what happened inside it.",
    ],
    [
      "a deployment",
      () => onBase(null, "0x60"),
      `account X deployed contract ${getContractAddress({ from: payer.address, nonce: 3n })} in transaction Z on Base. It succeeded. Its bytes show the call, not what happened inside it.`,
    ],
    [
      "a transfer in a sandbox",
      () => onBase(RAILS.base.usdc as Hex, transfer, 0n, SANDBOX),
      "account X sent 25.00 USDC to account Y in transaction Z on the sandbox's Base. It succeeded.",
    ],
  ])("is true of %s", async (_what, make, sentence) => {
    expect(say(await make(), "succeeded")).toBe(`On 21 November 2026 at 14:03:07 UTC, ${sentence}`);
  });

  it("names what a failed deposit leaves", () => {
    const account = new Uint8Array(20).fill(0xb2);
    const mint = Uint8Array.of(5);
    const none = new Uint8Array();
    const fields = [new Uint8Array(32), account, account, mint, mint, Uint8Array.of(1), none, Uint8Array.of(1, 2)];
    const bundle = testBundle({ chain: "base", txnBytes: Uint8Array.of(0x7e, ...encodeRlp(fields)) });
    const ether = "0.000000000000000005 ETH";
    expect(say(bundle, "failed")).toBe(
      `On 21 November 2026 at 14:03:07 UTC, a deposit from Ethereum tried to credit ${ether} to account Y, and to call account Y with ${ether} for account Y, in transaction Z on Base. It failed: the call was undone. The ${ether} stays credited to account Y.`,
    );
  });

  it("names a type that is not read", () => {
    const bundle = testBundle({ chain: "base", txnBytes: Uint8Array.of(0x79, 1) });
    expect(say(bundle, "succeeded")).toBe(
      "On 21 November 2026 at 14:03:07 UTC, transaction Z on Base was recorded. It succeeded. Transactions of type 0x79 are not read here.",
    );
  });
});

describe("the sentence about a transaction on Algorand", () => {
  const asset = (id: number, network: string, ledger: string): Bundle => {
    const genesisHash = fromBase64(
      network === SANDBOX
        ? "ekIDYRawz1wXUrUbmwqm24YRNU6KFFKF9zEZEHF3XiE="
        : "wGHE2Pwdvd7S12BL5FaOP20EGYesN73ktiC1qzkkit8=",
    );
    const member = { aamt: 25_000_000, arcv: new Uint8Array(32).fill(2), fee: 1000, fv: 1, gh: genesisHash, lv: 2 };
    const rest = { snd: new Uint8Array(32).fill(1), type: "axfer", xaid: id };
    return testBundle({ txnBytes: encodeMsgpack(new Map(Object.entries({ ...member, ...rest }))), ledger });
  };
  const MAINNET = "algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73k";

  it("knows USDC, and the sandbox's, by network and id alone", () => {
    const amount = (bundle: Bundle) => subjectOf(bundle).transaction?.amount?.text;
    expect(amount(asset(31566704, MAINNET, MAINNET))).toBe("25.00 USDC");
    expect(amount(asset(31566704, SANDBOX, SANDBOX))).toBe("25.00 USDC");
    expect(amount(asset(31566704, SANDBOX, MAINNET))).toBe("25,000,000 units of asset 31566704");
    expect(amount(asset(31566705, MAINNET, MAINNET))).toBe("25,000,000 units of asset 31566705");
  });

  it("has no outcome, because only what took effect is in a block", () => {
    const bundle = asset(31566704, MAINNET, MAINNET);
    const subject = subjectOf(bundle);
    expect(circumstancesOf(subject, {})).toEqual({ outcome: "not_applicable" });
    expect(sentenceOf(subject, { block: BLOCK, outcome: "not_applicable" }, { id: (id) => id.slice(0, 4) })).toMatch(
      /^On 21 November 2026 at 14:03:07 UTC, account AEAQ sent 25\.00 USDC to account AIBA in transaction .{4} on Algorand\.$/,
    );
    expect(outcomeWords(subject, "not_applicable")).toBe(
      "Took effect: a block of Algorand holds no failed transaction",
    );
  });

  it("shows a stranger's text without what would hide or reorder it", () => {
    const parameters = new Map<string, string | number>([
      ["an", "USDC\u202e\n"],
      ["t", 7],
    ]);
    const members = { apar: parameters, fee: 1000, fv: 1, lv: 2, snd: new Uint8Array(32).fill(1), type: "acfg" };
    const bundle = testBundle({ txnBytes: encodeMsgpack(new Map(Object.entries(members))) });
    expect(say(bundle, "not_applicable")).toContain(
      'created an asset named "USDC\\u{202e}\\u{a}", of 7 units in total in',
    );
  });
});

describe("circumstances", () => {
  it("are the statement's", async () => {
    const statement = { block: { hash: "0x1", height: 7, time: TIME }, outcome: "failed" } as const;
    expect(circumstancesOf(subjectOf(await usdc(transfer)), { statement })).toEqual(statement);
    expect(circumstancesOf(subjectOf(await usdc(transfer)), {})).toEqual({ outcome: "unknown" });
  });

  it("of an inclusion are its header's time and its receipt's outcome", () => {
    const block = testBaseBlock(2);
    const subject = subjectOf(testInclusionBundle({ block }));
    const circumstances = circumstancesOf(subject, { receipt: { status: "succeeded" } });
    expect(circumstances.outcome).toBe("succeeded");
    expect(sentenceOf(subject, circumstances)).toMatch(
      / in transaction 0x[0-9a-f]{64} in block \d+ of Base\. It succeeded\.$/,
    );
  });

  it("of a block are its header's", () => {
    const subject = subjectOf(testBlockBundle());
    expect(headline(subject, "unknown")).toEqual({ title: "Block 256 of Algorand" });
    expect(sentenceOf(subject, circumstancesOf(subject, {}))).toContain("lock 256 of Algorand was made. Its hash is ");
  });
});

it("a time beyond the calendar has no date", () => {
  expect(dateline(TIME)).toBe("21 November 2026 at 14:03:07 UTC");
  expect(dateline(Number.MAX_SAFE_INTEGER)).toBeUndefined();
});

it("describes any bytes without an error", () => {
  const proof = testBundle();
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 200 }), (bytes) => {
      const source = { ...proof.source, txnBytesBase64: Buffer.from(bytes).toString("base64") };
      for (const chain of ["algorand", "base"] as const) {
        const subject = subjectOf({ ...proof, source: { ...source, chain } });
        expect(sentenceOf(subject, circumstancesOf(subject, {}))).toMatch(/ on (Algorand|Base)/);
      }
    }),
  );
  expect(subjectOf({ ...proof, attest: { ...proof.attest, note: utf8("x").toString() } }).place).toContain("sandbox");
});
