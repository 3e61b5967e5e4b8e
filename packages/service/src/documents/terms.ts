import type { PaymentOption } from "../payment/payment-option.ts";
import type { Site } from "./site.ts";

/** The terms of a paid operation: `x-x402` in the OpenAPI document, and the same in every other document. */
export type PaymentTerms = {
  version: 2;
  scheme: string;
  network: string;
  asset: string;
  payTo: string;
  priceUsdc: string;
  maxAmountRequired: string;
  facilitatorUrl: string;
  headers: string[];
  accepts: PaymentOption[];
};

/** The three headers of a payment (x402 v2, HTTP transport). */
const PAYMENT_HEADERS = ["PAYMENT-REQUIRED", "PAYMENT-SIGNATURE", "PAYMENT-RESPONSE"];

/** The terms in every document but the text index. */
export function paymentTerms(site: Site): PaymentTerms {
  const accepts = [...site.listed];
  const [first] = accepts;
  if (!first) throw new Error("there is no way to pay");
  const { scheme, network, asset, payTo, priceUsdc, maxAmountRequired, facilitatorUrl } = first;
  return {
    version: 2,
    scheme,
    network,
    asset,
    payTo,
    priceUsdc,
    maxAmountRequired,
    facilitatorUrl,
    headers: PAYMENT_HEADERS,
    accepts,
  };
}
