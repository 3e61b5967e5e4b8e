import type { PaymentReceipt } from "@attestd/proof";
import type { SettleResponse } from "@x402/core/types";
import { describe, expect, test } from "vitest";
import { TEST_RECEIPT, testAttestor, testBundle, testReceipt } from "../../../test/bundles/bundles.ts";
import { signedReceipt } from "./receipt.ts";

const attestor = testAttestor();
const bundle = testBundle({ attestor });
const offer = {
  network: "eip155:8453",
  amount: "1000",
  payTo: "0x11",
  payer: "0xABCD",
  maxTimeoutSeconds: 120,
};
const payload = { ...TEST_RECEIPT, network: offer.network, payer: "0xabcd", transaction: "0x12" };

function settlement(receipt: PaymentReceipt, signer = attestor): SettleResponse {
  const signature = testReceipt(signer, receipt);
  return {
    success: true,
    transaction: "0x12",
    network: "eip155:8453",
    extensions: { "offer-receipt": { info: { receipt: { format: "jws", signature } } } },
  };
}

describe("a signed receipt", () => {
  test("is taken when the bundle's signer has signed it for this payment", () => {
    const taken = signedReceipt(settlement(payload), bundle, { offer });
    expect(taken?.payload).toEqual(payload);
    expect(taken?.jws.split(".")).toHaveLength(3);
  });

  test.each([
    ["another payer's", settlement({ ...payload, payer: "0xbeef" })],
    ["another transaction's", settlement({ ...payload, transaction: "0x13" })],
    ["another network's", settlement({ ...payload, network: "eip155:1" })],
    ["another signer's", settlement(payload, testAttestor("someone else"))],
  ])("is not taken when it is %s", (_, other) => {
    expect(signedReceipt(other, bundle, { offer })).toBeUndefined();
  });

  test.each([
    ["no settlement", undefined],
    ["no extensions", { success: true, transaction: "0x12", network: "eip155:8453" } as SettleResponse],
    ["a receipt of another format", { ...settlement(payload), extensions: { "offer-receipt": { info: "x" } } }],
  ])("is not there with %s", (_, without) => {
    expect(signedReceipt(without, bundle, { offer })).toBeUndefined();
  });
});
