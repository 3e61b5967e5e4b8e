import type { PaymentPayload } from "@x402/core/types";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { encodeFunctionData, type Hex, parseAbi, parseSignature, serializeErc6492Signature } from "viem";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { serviceError } from "../../../../test/errors.ts";
import {
  authorization,
  BaseWorld,
  NOW,
  nonce,
  type Overrides,
  payer,
  paying,
  payload,
  payTo,
  requirement,
  sign,
  stranger,
} from "../../../../test/fakes/base-payments.ts";
import { BASE } from "./usdc.ts";
import { readTokenDomain } from "./usdc-contract.ts";

let world: BaseWorld;
beforeEach(() => {
  world = new BaseWorld();
});
afterEach(() => world[Symbol.asyncDispose]());

const signal = () => AbortSignal.timeout(20_000);
const read = async (over: Overrides = {}) => world.rail.read(await paying(over));
const signedWith = (signature: Hex) => world.rail.read(payload({ authorization: authorization(), signature }));

async function refusal(made: PaymentPayload, against = requirement): Promise<string | undefined> {
  try {
    await world.rail.check(world.rail.read(made), against, AbortSignal.timeout(10_000));
    return undefined;
  } catch (error) {
    expect(error).toEqual(serviceError("payment_refused"));
    return (error as Error).message;
  }
}

describe("a Base payment", () => {
  test("of the stock client is read, keyed by its nonce, checked, and has a valid signature", async () => {
    const { payload: stock } = await new ExactEvmScheme(payer).createPaymentPayload(2, requirement);
    const made = payload(stock);
    const { authorization: sent } = stock as { authorization: Record<string, string> };
    const payment = world.rail.read(made);
    expect(payment).toMatchObject({
      key: `eip155:8453/${BASE.asset.toLowerCase()}/${payer.address.toLowerCase()}/${sent.nonce}`,
      aliases: [],
      payer: payer.address,
      payTo,
      amount: 1000n,
      asset: BASE.asset,
    });
    expect(await world.rail.signature(payment)).toBe("valid");
    expect(await refusal(made)).toBeUndefined();
    expect(world.nodes).toEqual([]);
  });

  test("is the same payment in any case of its hex, and to any spelling of our address", async () => {
    const message = authorization();
    const signature = await sign(message);
    const lower = { ...message, from: message.from.toLowerCase(), to: message.to.toLowerCase() };
    const upper = { ...lower, nonce: `0x${nonce.slice(2).toUpperCase()}` };
    const spelled = world.rail.read(payload({ authorization: upper, signature }));
    expect(spelled.key).toBe((await read()).key);
    expect(await world.rail.signature(spelled)).toBe("valid");
    expect(await refusal(spelled.payload, { ...requirement, payTo: payTo.toLowerCase() })).toBeUndefined();
    expect(world.rail.sameAddress(payTo, payTo.toLowerCase())).toBe(true);
  });

  test("of an hour is accepted, also of a payer whose clock is a minute ahead of ours", async () => {
    const hour = { ...requirement, maxTimeoutSeconds: 3_600 };
    // The stock client reads the system's clock, which may be far ahead of the start of these tests.
    world.now = Math.floor(Date.now() / 1000);
    const { payload: stock } = await new ExactEvmScheme(payer).createPaymentPayload(2, hour);
    expect(await refusal(payload(stock))).toBeUndefined();
    expect(await refusal(await paying({ validBefore: `${world.now + 3_660}` }))).toBeUndefined();
  });

  const other = stranger.address;
  test.each<[string, Overrides, string]>([
    ["another payee", { to: other }, `goes to ${other}, not ${payTo}`],
    ["another amount", { value: "999" }, "moves 999, not 1000"],
    ["more than asked", { value: "1001" }, "moves 1001, not 1000"],
    ["the payee as payer", { from: payTo }, "the payer is the payee"],
    ["a later beginning", { validAfter: `${NOW + 5}` }, `not valid before Unix time ${NOW + 5}`],
    ["a beginning at this second, which the token takes for too early", { validAfter: `${NOW}` }, "not valid before"],
    ["an expiry passed", { validBefore: `${NOW - 1}` }, `expires at Unix time ${NOW - 1}, too soon`],
    ["an expiry too near", { validBefore: `${NOW + 29}` }, `expires at Unix time ${NOW + 29}, too soon`],
    ["a life too long", { validBefore: `${NOW + 3_661}` }, "stays valid for more than 3600 s"],
    ["a life without end", { validBefore: `${2n ** 256n - 1n}` }, "stays valid for more than 3600 s"],
    ["an amount in hex", { value: "0x3e8" }, "authorization.value is not a decimal string"],
    ["a leading zero", { value: "01000" }, "authorization.value is not a decimal string"],
    ["a negative amount", { value: "-1000" }, "authorization.value is not a decimal string"],
    ["an amount beyond 256 bits", { value: `${2n ** 256n}` }, "authorization.value is more than a uint256 holds"],
    ["a number for a string", { validBefore: 120 as never }, "authorization.validBefore is not a decimal string"],
    ["a short nonce", { nonce: "0x5a" }, "authorization.nonce is not 0x and 64 hex characters"],
    ["no address", { to: "vitalik.eth" }, "authorization.to is not 0x and 40 hex characters"],
  ])("with %s is refused with the reason", async (_, over, reason) => {
    expect(await refusal(payload({ authorization: authorization(over), signature: "0x00" }))).toContain(reason);
  });

  const permit2 = { from: other, permitted: { token: BASE.asset, amount: "1000" }, spender: payTo, nonce: "1" };
  test.each<[string, PaymentPayload, string]>([
    [
      "version 1",
      payload({ authorization: authorization(), signature: "0x00" }, { x402Version: 1 }),
      "x402Version is not 2",
    ],
    ["Permit2", payload({ signature: "0x00", permit2Authorization: permit2 }), "has the member permit2Authorization"],
    [
      "Permit2 beside EIP-3009",
      payload({ authorization: authorization(), signature: "0x00", permit2Authorization: permit2 }),
      "has the member permit2Authorization",
    ],
    [
      "an unknown member of the authorization",
      payload({ authorization: { ...authorization(), token: other }, signature: "0x00" }),
      "authorization has the member token",
    ],
    ["no signature", payload({ authorization: authorization() }), "payload has no member signature"],
    ["no authorization", payload({ signature: "0x00" }), "payload has no member authorization"],
    [
      "a list for an authorization",
      payload({ authorization: [], signature: "0x00" }),
      "payload.authorization has no member from",
    ],
    [
      "a nonce left out",
      payload({ authorization: { ...authorization(), nonce: undefined }, signature: "0x00" }),
      "nonce is not",
    ],
    [
      "a signature that is not hex",
      payload({ authorization: authorization(), signature: "0xzz" }),
      "payload.signature is not",
    ],
    [
      "half a byte of signature",
      payload({ authorization: authorization(), signature: "0x012" }),
      "payload.signature is not",
    ],
    [
      "a signature of a novel's length",
      payload({ authorization: authorization(), signature: `0x${"00".repeat(5_000)}` }),
      "payload.signature is not",
    ],
    [
      "a signature that costs the facilitator more than a wallet's",
      payload({ authorization: authorization(), signature: `0x${"ff".repeat(2_049)}` }),
      "payload.signature is not 0x and hex of at most 2048 bytes",
    ],
  ])("with %s is refused with the reason", async (_, made, reason) => {
    expect(await refusal(made)).toContain(reason);
  });

  test("of a wallet that is not deployed is refused with the reason", async () => {
    const signature = serializeErc6492Signature({ address: stranger.address, data: "0x01", signature: "0x02" });
    expect(await refusal(payload({ authorization: authorization(), signature }))).toContain("ERC-6492");
  });

  test("for another token is refused with the reason", async () => {
    expect(await refusal(await paying(), { ...requirement, asset: other })).toContain(
      `moves ${BASE.asset}, not ${other}`,
    );
  });
});

describe("the signature of a Base payment", () => {
  const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
  const part = (signature: Hex, from: number, to: number) => signature.slice(2 + from * 2, 2 + to * 2);
  const forms: [string, () => Promise<Hex>][] = [
    ["by another key", () => sign(authorization(), {}, stranger)],
    ["under another token name", () => sign(authorization(), { name: "USD Coin (attestd sandbox)" })],
    ["under another version", () => sign(authorization(), { version: "1" })],
    ["for another chain", () => sign(authorization(), { chainId: 84532 })],
    ["for another token", () => sign(authorization(), { verifyingContract: stranger.address })],
    ["of another amount", () => sign(authorization({ value: "1" }))],
    [
      "in its malleable twin",
      async () => {
        const signature = await sign(authorization());
        const s = ORDER - BigInt(`0x${part(signature, 32, 64)}`);
        const v = part(signature, 64, 65) === "1b" ? "1c" : "1b";
        return `0x${part(signature, 0, 32)}${s.toString(16).padStart(64, "0")}${v}`;
      },
    ],
    [
      "with the parity for v",
      async () => {
        const signature = await sign(authorization());
        return `0x${part(signature, 0, 64)}${part(signature, 64, 65) === "1b" ? "00" : "01"}`;
      },
    ],
    ["in the compact form (EIP-2098)", async () => `0x${part(await sign(authorization()), 0, 64)}`],
    ["with a byte too many", async () => `${await sign(authorization())}00`],
    ["of zeros", async () => `0x${"00".repeat(65)}`],
    ["of no bytes", async () => "0x"],
  ];
  test.each(forms)("%s is not the payer's, and an account without a contract cannot accept it", async (_, make) => {
    await world.node();
    const payment = signedWith(await make());
    expect(await world.rail.signature(payment)).toBe("on_chain");
    expect(await world.rail.onChain(payment, signal())).toBe(false);
  });

  test.each(forms.slice(0, 1))(
    "%s is the payer's where its wallet's contract accepts it (ERC-1271)",
    async (_, make) => {
      const node = await world.node();
      const signature = await make();
      node.wallets.set(payer.address.toLowerCase(), signature);
      expect(await world.rail.onChain(signedWith(signature), signal())).toBe(true);
      expect(await world.rail.onChain(signedWith(`0x${"01".repeat(65)}`), signal())).toBe(false);
    },
  );

  test("is checked with no more gas than the facilitator may have to pay for", async () => {
    const node = await world.node();
    node.wallets.set(payer.address.toLowerCase(), "0x01");
    const gas: unknown[] = [];
    node.distort = (method, answer, params) => {
      if (method === "eth_call") gas.push((params[0] as { gas?: string }).gas);
      return answer;
    };
    expect(await world.rail.onChain(signedWith("0x01"), signal())).toBe(true);
    expect(gas.map(Number)).toEqual([400_000]);
  });

  test("that makes the wallet's contract revert is not the payer's", async () => {
    const node = await world.node();
    node.wallets.set(payer.address.toLowerCase(), "reverts");
    expect(await world.rail.onChain(signedWith("0x01"), signal())).toBe(false);
  });

  const TOKEN = parseAbi([
    "function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)",
    "function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)",
  ]);
  const args = [payer.address, payTo, 1000n, 0n, BigInt(NOW + 120), nonce] as const;
  const asBytes = (signature: Hex) =>
    encodeFunctionData({ abi: TOKEN, functionName: "transferWithAuthorization", args: [...args, signature] });
  const asWords = (signature: Hex) => {
    const { r, s, v } = parseSignature(signature);
    return encodeFunctionData({
      abi: TOKEN,
      functionName: "transferWithAuthorization",
      args: [...args, Number(v), r, s],
    });
  };
  const inBundle = (call: Hex): Hex => `0xac9650d8${"00".repeat(95)}01${call.slice(2)}${"00".repeat(28)}`;
  const long: Hex = `0x${"a7".repeat(700)}`;

  test.each<[string, Hex, (signature: Hex) => Hex]>([
    ["whole", long, asBytes],
    ["whole, of a few bytes", "0x01", asBytes],
    ["whole, of none", "0x", asBytes],
    ["as v, r and s", `0x${"5c".repeat(64)}1b`, asWords],
    ["in a bundle of calls", long, (signature) => inBundle(asBytes(signature))],
  ])(
    "that a wallet accepted once, %s, is known from the payment that was made with it",
    async (_, signature, input) => {
      const node = await world.node();
      node.wallets.set(payer.address.toLowerCase(), "0xffff");
      const payment = signedWith(signature);
      expect(await world.rail.onChain(payment, signal())).toBe(false);

      const spent = { from: payer.address, to: payTo, value: 1000n, nonce } as const;
      node.inputs.set(node.use(node.latest - 10, spent), input(signature));
      expect(await world.rail.onChain(payment, signal())).toBe(true);
      const others: Hex[] = ["0x", "0x01", `0x${"5d".repeat(64)}1b`, `${long}a7`, `0x${long.slice(4)}`];
      for (const other of others.filter((one) => one !== signature))
        expect(await world.rail.onChain(signedWith(other), signal())).toBe(false);
    },
  );

  test("is unknown when the node is down, or nodes contradict one another", async () => {
    const [one, two] = [await world.node(), await world.node()];
    one.wallets.set(payer.address.toLowerCase(), "0x01");
    await expect(world.rail.onChain(signedWith("0x01"), signal())).rejects.toMatchObject({
      code: "providers_conflict",
    });
    expect(world.conflicts).toHaveLength(1);
    for (const node of [one, two])
      node.distort = (method) => {
        throw new Error(`no ${method} now`);
      };
    await expect(world.rail.onChain(signedWith("0x01"), signal())).rejects.toMatchObject({
      code: "providers_unavailable",
    });
  });
});

describe("the payer of a Base payment", () => {
  test.each([0n, 2n ** 200n])("has the balance that most nodes see, where one of three says %i", async (lie) => {
    const [liar, ...honest] = [await world.node(), await world.node(), await world.node()];
    liar.balances.set(payer.address.toLowerCase(), lie);
    for (const node of honest) node.balances.set(payer.address.toLowerCase(), 2n ** 60n);
    expect(await world.rail.balance(await read(), signal())).toBe(2n ** 60n);
  });
});

describe("the payee on Base", () => {
  const fault = (address = payTo as string) => world.rail.payeeFault(address, signal());

  test("can be paid unless it is on USDC's blacklist, or USDC is paused", async () => {
    const node = await world.node();
    expect(await fault()).toBeUndefined();
    node.blacklist.add(payTo.toLowerCase());
    expect([await fault(), await fault(stranger.address)]).toEqual(["is on USDC's blacklist", undefined]);
    node.blacklist.clear();
    node.paused = true;
    expect(await fault()).toBe("can be paid nothing while USDC is paused");
  });

  test("is not said to be on the blacklist by one node of two", async () => {
    const [liar] = [await world.node(), await world.node()];
    liar.blacklist.add(payTo.toLowerCase());
    await expect(fault()).rejects.toMatchObject({ code: "providers_conflict" });
  });
});

describe("the token's domain", () => {
  test("is read from the chain, for the offers", async () => {
    const node = await world.node();
    node.domain = { name: "USD Coin (attestd sandbox)", version: "2" };
    const found = await readTokenDomain(world.rpcs, BASE.asset, signal());
    expect(found).toEqual(node.domain);
    expect(world.railOf(found).extra).toEqual(node.domain);
  });

  test("that two nodes answer differently is refused", async () => {
    const [one] = [await world.node(), await world.node()];
    one.domain = { name: "USD Coim", version: "2" };
    const reading = readTokenDomain(world.rpcs, BASE.asset, signal());
    await expect(reading).rejects.toMatchObject({ code: "providers_conflict" });
  });
});
