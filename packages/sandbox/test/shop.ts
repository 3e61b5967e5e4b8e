import {
  decodePaymentSignatureHeader,
  encodePaymentRequiredHeader,
  encodePaymentResponseHeader,
  HTTPFacilitatorClient,
} from "@x402/core/http";
import type { PaymentRequirements } from "@x402/core/types";
import { type RailRegistration, startFacilitator } from "../src/facilitator/server.ts";
import { type Listening, listen } from "../src/http.ts";

/** A resource with one price and a facilitator with one rail, for tests. */
export interface Shop {
  url: string;
  facilitator: HTTPFacilitatorClient;
  requirements: PaymentRequirements;
  close(): Promise<void>;
}

/**
 * Starts a facilitator with that rail, and a resource that costs one payment of `offer`. The facilitator's `extra` of
 * the rail, such as its fee payer, is added to the offer.
 */
export async function startShop(rail: RailRegistration, offer: PaymentRequirements): Promise<Shop> {
  const server = await startFacilitator({ rails: [rail] });
  const facilitator = new HTTPFacilitatorClient({ url: server.url });
  const { kinds } = await facilitator.getSupported();
  const requirements = { ...offer, extra: { ...kinds[0]?.extra, ...offer.extra } };
  const resource: Listening = await listen((request) => sell(request, facilitator, requirements), {
    server: "facilitator",
  });
  return {
    url: resource.url,
    facilitator,
    requirements,
    close: async () => {
      await resource.close();
      await server.close();
    },
  };
}

async function sell(request: Request, facilitator: HTTPFacilitatorClient, requirements: PaymentRequirements) {
  const header = request.headers.get("payment-signature");
  const refuse = (error: string) => {
    const required = { x402Version: 2, error, resource: { url: request.url }, accepts: [requirements] };
    return new Response(error, { status: 402, headers: { "payment-required": encodePaymentRequiredHeader(required) } });
  };
  if (header === null) return refuse("a payment is required");
  const payload = decodePaymentSignatureHeader(header);
  const verdict = await facilitator.verify(payload, requirements);
  if (!verdict.isValid) return refuse(verdict.invalidReason ?? "invalid");
  const receipt = await facilitator.settle(payload, requirements);
  if (!receipt.success) return refuse(receipt.errorReason ?? "not settled");
  return new Response("paid for", { headers: { "payment-response": encodePaymentResponseHeader(receipt) } });
}
