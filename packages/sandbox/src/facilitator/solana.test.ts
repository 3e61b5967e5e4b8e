import { createKeyPairSignerFromBytes } from "@solana/kit";
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from "@x402/fetch";
import { ExactSvmScheme } from "@x402/svm/exact/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Shop, startShop } from "../../test/shop.ts";
import { jsonRpcClient } from "../jsonrpc.ts";
import { type SolanaNetwork, startSolana } from "../solana/network.ts";
import { associatedTokenAddress } from "../solana/token.ts";
import { registerSolana } from "./solana.ts";

const NETWORK = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp";

let solana: SolanaNetwork;
let shop: Shop;
let scheme: ExactSvmScheme;

beforeAll(async () => {
  solana = await startSolana({ slotMs: 100 });
  const { rpcUrl, feePayer, payer } = solana;
  shop = await startShop(registerSolana(rpcUrl, feePayer.secretKeyBase64), {
    scheme: "exact",
    network: NETWORK,
    asset: solana.usdc,
    amount: "1000",
    payTo: solana.payTo.address,
    maxTimeoutSeconds: 60,
    extra: {},
  });
  const signer = await createKeyPairSignerFromBytes(Buffer.from(payer.secretKeyBase64, "base64"));
  scheme = new ExactSvmScheme(signer, { rpcUrl });
});

afterAll(async () => {
  await shop.close();
  await solana.close();
});

async function usdcOf(owner: Parameters<typeof associatedTokenAddress>[0]): Promise<bigint> {
  const call = jsonRpcClient(solana.rpcUrl);
  const balance = await call("getTokenAccountBalance", [await associatedTokenAddress(owner)]);
  return BigInt((balance as { value: { amount: string } }).value.amount);
}

test("a stock client pays a resource: USDC moves once, and the fee payer pays the fee", async () => {
  const call = jsonRpcClient(solana.rpcUrl);
  const pay = wrapFetchWithPayment(fetch, new x402Client().register(NETWORK, scheme));

  const answer = await pay(shop.url);

  expect(await answer.text()).toBe("paid for");
  const receipt = decodePaymentResponseHeader(answer.headers.get("payment-response") ?? "");
  expect(receipt).toMatchObject({ success: true, network: NETWORK, payer: solana.payer.address });
  expect(await usdcOf(solana.payTo.address)).toBe(1000n);
  expect(await usdcOf(solana.payer.address)).toBe(999_999_000n);
  expect(await call("getBalance", [solana.payer.address])).toMatchObject({ value: 100_000_000_000 });
  expect(await call("getBalance", [solana.feePayer.address])).toMatchObject({ value: 1_000_000_000_000 - 10_001 });
});

test("lists the fee payer and only the exact scheme of x402 version 2", async () => {
  const { kinds } = await shop.facilitator.getSupported();
  const extra = { feePayer: solana.feePayer.address };
  expect(kinds).toEqual([{ x402Version: 2, scheme: "exact", network: NETWORK, extra }]);
});

test("settles twenty payments at once, and none of them twice", async () => {
  const before = await usdcOf(solana.payTo.address);
  const sign = async () => ({
    ...(await scheme.createPaymentPayload(2, shop.requirements)),
    accepted: shop.requirements,
  });
  const payments = await Promise.all(Array.from({ length: 20 }, sign));

  const settle = () => Promise.all(payments.map((payment) => shop.facilitator.settle(payment, shop.requirements)));
  const receipts = await settle();

  expect(receipts.map(({ success }) => success)).toEqual(payments.map(() => true));
  expect(new Set(receipts.map(({ transaction }) => transaction)).size).toBe(20);
  expect((await settle()).map(({ errorReason }) => errorReason)).toEqual(payments.map(() => "duplicate_settlement"));
  expect(await usdcOf(solana.payTo.address)).toBe(before + 20_000n);
});
