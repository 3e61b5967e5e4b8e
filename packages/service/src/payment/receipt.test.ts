import { verifyPaymentReceipt } from "@attestd/proof";
import type { PaymentRequirements } from "@x402/core/types";
import { extractReceiptFromResponse, extractReceiptPayload } from "@x402/extensions/offer-receipt";
import { expect, test } from "vitest";
import { seedSigner } from "../../test/seed-signer.ts";
import { createAttestor } from "../attestor/attestor.ts";
import { nativeCrypto } from "../lib/crypto/crypto.ts";
import type { Payment } from "./rails/rail.ts";
import { settlementReceipt, signReceipt } from "./receipt.ts";

const never = new AbortController().signal;
const attestor = createAttestor(seedSigner(new Uint8Array(32).fill(7)));
const delivery = { resourceUrl: `https://${"attestd.".repeat(8)}example/prove-tx-inclusion`, at: 1_795_256_945_678 };

/** A settlement on the rail with the longest names. */
const payment = { rail: "solana", payer: "7".repeat(44) } as Payment;
const requirement: PaymentRequirements = {
  scheme: "exact",
  network: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
  asset: "USDC",
  amount: "1000",
  payTo: "PAYEE",
  maxTimeoutSeconds: 120,
  extra: {},
};

test("stock clients find the signed receipt of a payment, and our verifier accepts it", async () => {
  const transaction = "5".repeat(88);
  const settled = settlementReceipt(payment, requirement, { success: true, transaction });
  const header = await signReceipt(settled, delivery, attestor, never);

  const receipt = extractReceiptFromResponse(new Response(null, { headers: { "payment-response": header } }));
  if (!receipt) throw new Error("the stock client finds no receipt");
  const stated = {
    type: "x402-receipt",
    version: 1,
    network: requirement.network,
    resourceUrl: delivery.resourceUrl,
    payer: payment.payer,
    transaction,
    issuedAt: 1_795_256_945,
  };
  expect(extractReceiptPayload(receipt)).toEqual(stated);
  expect(receipt.format).toBe("jws");
  expect(verifyPaymentReceipt(receipt.signature, [attestor.pqPublicKey], nativeCrypto)).toEqual(stated);

  const { extensions, ...unsigned } = JSON.parse(Buffer.from(header, "base64").toString());
  expect(unsigned).toEqual(JSON.parse(Buffer.from(settled, "base64").toString()));
  expect(Object.keys(extensions)).toEqual(["offer-receipt"]);
});

/**
 * 8,000 bytes is the limit for one header in the strictest common client (Python's aiohttp), and for all headers in
 * Java's netty.
 */
test("a signed receipt fits into 8,000 bytes", async () => {
  const settled = settlementReceipt(payment, requirement, { success: true, transaction: "5".repeat(88) });
  expect((await signReceipt(settled, delivery, attestor, never)).length).toBeLessThan(8_000);
});

test("nothing is signed for a settlement that failed", async () => {
  const failed = settlementReceipt(payment, requirement, { success: false, reason: "expired" });
  await expect(signReceipt(failed, delivery, attestor, never)).rejects.toThrow("only a payment that was made");
});
