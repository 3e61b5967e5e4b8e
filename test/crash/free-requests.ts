import type { Sandbox } from "@attestd/sandbox";
import { encodePaymentSignatureHeader } from "@x402/core/http";
import { buy, priceOf } from "./buyer.ts";
import type { EndedPurchase } from "./judge.ts";
import { payerOf } from "./payers.ts";
import { requestFor } from "./subjects.ts";

/** Who is served in a soak: buyers, each with one purchase at a time, and free clients, which pause so many ms. */
export const SOAK_LOAD = { buyers: 12, freeClients: 4, pauseMs: 20 };

/** `whileClosed`: the codes of a 503 that answers it while nothing can be sold. */
export type FreeRequest = {
  name: string;
  path: string;
  status: number;
  whileClosed?: readonly string[];
  init?: RequestInit;
  ended?: EndedPurchase;
};

/** The free requests, a replay of a purchase among them, which is made first. @throws Error when it is not delivered */
export async function freeRequests(sandbox: Sandbox, url: string, signal: AbortSignal): Promise<FreeRequest[]> {
  const request = await requestFor(sandbox, "transaction");
  const payment = await payerOf(sandbox)("algorand", await priceOf(url, request, signal, "algorand"));
  const { status, text: bundle } = await buy(() => url, request, payment, signal);
  if (status !== 200) throw new Error(`the first purchase was answered with ${status}: ${bundle}`);
  const post = (body: string, headers: Record<string, string> = {}): RequestInit => {
    return { method: "POST", headers: { "content-type": "application/json", ...headers }, body };
  };
  const asked = JSON.stringify(request.body);
  const paid = { "payment-signature": encodePaymentSignatureHeader(payment.payload) };
  return [
    { name: "verify", path: "/verify", status: 200, init: post(bundle) },
    { name: "verify, altered", path: "/verify", status: 400, init: post(bundle.replace('"round":', '"round":1')) },
    {
      name: "challenge",
      path: request.path,
      status: 402,
      whileClosed: ["facilitator_unavailable", "providers_unavailable"],
      init: post(asked),
    },
    { name: "replay", path: request.path, status: 200, init: post(asked, paid), ended: { payment, bundle } },
    { name: "openapi.json", path: "/openapi.json", status: 200 },
    { name: "keys", path: "/.well-known/attestor-keys.json", status: 200 },
    { name: "health", path: "/health", status: 200 },
    { name: "no such path", path: "/nothing", status: 404 },
  ];
}
