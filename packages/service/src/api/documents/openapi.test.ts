import { expect, test } from "vitest";
import { CATALOGUE } from "../../catalogue/catalogue.ts";
import type { PaymentOption } from "../../payment/payment-option.ts";
import { openapi } from "./openapi.ts";

const optionAt = (micro: string, priceUsdc: string): PaymentOption => ({
  scheme: "exact",
  network: "eip155:8453",
  asset: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
  payTo: "0x857b06519E91e3A54538791bDbb0E22373e36b66",
  maxAmountRequired: micro,
  priceUsdc,
  facilitatorUrl: "https://facilitator.example",
});

function priceOf(...listed: PaymentOption[]): unknown {
  const document = openapi(CATALOGUE, {
    origin: "https://attestd.example",
    sandbox: false,
    mcpUrl: "https://attestd.example/mcp",
    contact: "mailto:operator@attestd.example",
    options: listed,
    listed,
    batch: { itemUsdc: "0.0001", maxItems: 1000, smallest: listed, largest: listed },
    sources: [],
    paymentLifeSeconds: 3600,
    today: new Date(0),
  });
  const operation = document.paths["/attest"]?.post as { "x-payment-info": { price: unknown } };
  return operation["x-payment-info"].price;
}

test("indexers read one price, or the range of prices that rails have", () => {
  const [one, two, ten] = [optionAt("1000", "0.001"), optionAt("2000", "0.002"), optionAt("10000", "0.01")] as const;
  expect(priceOf(one, one)).toEqual({ mode: "fixed", currency: "USD", amount: "0.001" });
  expect(priceOf(two, ten, one)).toEqual({ mode: "dynamic", currency: "USD", min: "0.001", max: "0.01" });
});
