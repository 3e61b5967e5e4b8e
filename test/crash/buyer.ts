import { setTimeout as sleep } from "node:timers/promises";
import { decodePaymentRequiredHeader, encodePaymentSignatureHeader } from "@x402/core/http";
import type { PaymentRequired } from "@x402/core/types";
import type { SignedPayment } from "./payers.ts";
import type { Request } from "./subjects.ts";

/** What the buyer was told each time: a status with the problem's code where there is one, or that nothing came. */
export type Told = string;

/** Ask to send the same payment again, and are right on a machine so slow that an upstream's answer comes too late. */
export const LATE: readonly Told[] = [
  "503 facilitator_unavailable",
  "503 providers_unavailable",
  "503 settlement_pending",
  "503 attestation_pending",
];

export type Purchase = {
  told: Told[];
  /** Of the last answer. */
  status: number;
  text: string;
};

/** Until the same payment is sent again, in ms. */
export const PAUSE_MS = 100;

/** Asks what a request costs, until something is offered: a service that has just started may not have heard of its facilitator. */
export async function priceOf(url: string, request: Request, signal: AbortSignal): Promise<PaymentRequired> {
  for (;;) {
    const response = await post(url, request, {}, signal);
    const required = response.headers.get("payment-required");
    if (required !== null) return decodePaymentRequiredHeader(required);
    if (response.status !== 503) throw new Error(`no price, but HTTP ${response.status}: ${await response.text()}`);
    await sleep(PAUSE_MS, undefined, { signal });
  }
}

/**
 * Sends one payment with its request, again and again, until there is an answer that ends it: the bundle, or a 402.
 *
 * @param url of the service now; asked before each attempt, because it may have been started again elsewhere
 * @throws the signal's reason
 */
export async function buy(
  url: () => string,
  request: Request,
  payment: SignedPayment,
  signal: AbortSignal,
): Promise<Purchase> {
  const told: Told[] = [];
  for (;;) {
    signal.throwIfAborted();
    try {
      const answer = await send(url(), request, payment, signal);
      told.push(answer.told);
      if (answer.status === 200 || answer.status === 402) return { ...answer, told };
    } catch {
      told.push("no answer");
    }
    await sleep(PAUSE_MS, undefined, { signal });
  }
}

/** Sends a payment with its request, once. @throws when there is no whole answer */
export async function send(
  url: string,
  request: Request,
  { payload }: SignedPayment,
  signal: AbortSignal,
): Promise<{ told: Told; status: number; text: string }> {
  const headers = { "payment-signature": encodePaymentSignatureHeader(payload) };
  const response = await post(url, request, headers, signal);
  const text = await response.text();
  return { told: summary(response.status, text), status: response.status, text };
}

function summary(status: number, text: string): Told {
  const code = /"code":"(\w+)"/.exec(text)?.[1];
  return status !== 200 && code ? `${status} ${code}` : String(status);
}

function post(
  url: string,
  { path, body }: Request,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<Response> {
  return fetch(url + path, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
    signal,
  });
}
