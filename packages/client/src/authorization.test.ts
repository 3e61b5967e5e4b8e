import { hashTypedData, recoverTypedDataAddress } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { expect, test } from "vitest";
import { authorizationFor, paymentPayload, typedData } from "./authorization.ts";

const offer = {
  scheme: "exact",
  network: "eip155:8453",
  amount: "1000",
  asset: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
  payTo: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
  maxTimeoutSeconds: 120,
  extra: { name: "USD Coin", version: "2" },
} as const;
const account = privateKeyToAccount(`0x${"11".repeat(32)}`);
const NOW = 1_800_000_000_000;
const nonce = new Uint8Array(32).fill(7);

test("the payer signs exactly the offer's amount, payee and lifetime, for the offer's token", async () => {
  const authorization = authorizationFor(offer, account.address, NOW, nonce);
  expect(authorization).toEqual({
    from: account.address,
    to: offer.payTo,
    value: "1000",
    validAfter: "1799999400",
    validBefore: "1800000120",
    nonce: `0x${"07".repeat(32)}`,
  });
  const signed = JSON.parse(typedData(offer, authorization));
  expect(signed.domain).toEqual({ name: "USD Coin", version: "2", chainId: 8453, verifyingContract: offer.asset });

  // viem implements EIP-712 and EIP-3009 independently.
  const { types, primaryType, domain, message } = signed;
  const signature = await account.signTypedData({ types, primaryType, domain, message });
  const { EIP712Domain: _, ...own } = types;
  expect(hashTypedData({ types: own, primaryType, domain, message })).toBe(hashTypedData(signed));
  expect(await recoverTypedDataAddress({ types: own, primaryType, domain, message, signature })).toBe(account.address);

  const required = { x402Version: 2, resource: { url: "https://attestd.example/attest" }, accepts: [offer] };
  expect(paymentPayload(required as never, offer as never, { signature, authorization })).toEqual({
    x402Version: 2,
    resource: required.resource,
    accepted: offer,
    payload: { signature, authorization },
  });
});
