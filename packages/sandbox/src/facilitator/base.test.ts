import { ExactEvmScheme } from "@x402/evm/exact/client";
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from "@x402/fetch";
import { createPublicClient, type Hex, http, parseAbi } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Shop, startShop } from "../../test/shop.ts";
import { type BaseNetwork, startBase } from "../base/network.ts";
import { registerBase } from "./base.ts";

let base: BaseNetwork;
let shop: Shop;

beforeAll(async () => {
  base = await startBase({ blockMs: 100 });
  const rail = registerBase(base.rpcUrl, base.facilitator.privateKey);
  const { address, name, version } = base.usdc;
  shop = await startShop(rail, {
    scheme: "exact",
    network: "eip155:8453",
    asset: address,
    amount: "1000",
    payTo: base.payTo.address,
    maxTimeoutSeconds: 60,
    extra: { name, version },
  });
});

afterAll(async () => {
  await shop.close();
  await base.close();
});

const scheme = () => new ExactEvmScheme(privateKeyToAccount(base.payer.privateKey));

/** Returns a payment signed by the payer, as the facilitator gets it. */
async function sign() {
  const payload = await scheme().createPaymentPayload(2, shop.requirements);
  return { ...payload, accepted: shop.requirements };
}

async function usdcOf(address: Hex): Promise<bigint> {
  const client = createPublicClient({ transport: http(base.rpcUrl) });
  const abi = parseAbi(["function balanceOf(address) view returns (uint256)"]);
  return client.readContract({ address: base.usdc.address, abi, functionName: "balanceOf", args: [address] });
}

test("a stock client pays a resource: USDC moves once, and the payer needs no gas", async () => {
  const client = createPublicClient({ transport: http(base.rpcUrl) });
  const ether = await client.getBalance({ address: base.payer.address });
  const pay = wrapFetchWithPayment(fetch, new x402Client().register("eip155:8453", scheme()));

  const answer = await pay(shop.url);

  expect(await answer.text()).toBe("paid for");
  const receipt = decodePaymentResponseHeader(answer.headers.get("payment-response") ?? "");
  expect(receipt).toMatchObject({ success: true, network: "eip155:8453", payer: base.payer.address });
  expect(await usdcOf(base.payTo.address)).toBe(1000n);
  expect(await usdcOf(base.payer.address)).toBe(999_999_000n);
  expect(await client.getBalance({ address: base.payer.address })).toBe(ether);
});

test("lists only the exact scheme of x402 version 2 on Base", async () => {
  const { kinds, signers } = await shop.facilitator.getSupported();
  expect(kinds).toEqual([{ x402Version: 2, scheme: "exact", network: "eip155:8453" }]);
  expect(signers).toEqual({ "eip155:*": [base.facilitator.address] });
});

test("settles twenty payments at once, and a used one fails without delaying the others", async () => {
  const used = await sign();
  expect(await shop.facilitator.settle(used, shop.requirements)).toMatchObject({ success: true });
  const before = await usdcOf(base.payTo.address);

  const payments = await Promise.all(Array.from({ length: 20 }, sign));
  const [again, ...receipts] = await Promise.all(
    [used, ...payments].map((payment) => shop.facilitator.settle(payment, shop.requirements)),
  );

  expect(receipts.map(({ success }) => success)).toEqual(payments.map(() => true));
  expect(new Set(receipts.map(({ transaction }) => transaction)).size).toBe(20);
  expect(await usdcOf(base.payTo.address)).toBe(before + 20_000n);
  expect(again).toMatchObject({ success: false, errorReason: "invalid_exact_evm_nonce_already_used" });
  expect(await shop.facilitator.verify(used, shop.requirements)).toMatchObject({
    isValid: false,
    invalidReason: "invalid_exact_evm_nonce_already_used",
  });
});
