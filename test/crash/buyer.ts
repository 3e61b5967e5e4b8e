import { setTimeout as sleep } from "node:timers/promises";
import { decodePaymentRequiredHeader, encodePaymentSignatureHeader } from "@x402/core/http";
import type { PaymentRequired } from "@x402/core/types";
import { isOffered, type RailName, type SignedPayment } from "./payers.ts";
import type { Request } from "./subjects.ts";

/** The answer to one attempt: its status with the problem's code, if it has one, or `no answer`. */
export type Answer = string;

/** Answers that ask for the same payment again. They are correct when a slow machine delays an upstream's answer. */
export const LATE: readonly Answer[] = [
  "503 facilitator_unavailable",
  "503 providers_unavailable",
  "503 settlement_pending",
  "503 attestation_pending",
];

export type Purchase = {
  /** Of all attempts, in order. */
  answers: Answer[];
  /** Of the last answer. */
  status: number;
  text: string;
};

/** Pause before the same payment is sent again, in ms. */
export const PAUSE_MS = 100;

/**
 * Requests the price until there is an offer, on a rail if one is named: a service that has just started may not have reached its
 * facilitators yet.
 */
export async function priceOf(
  url: string,
  request: Request,
  signal: AbortSignal,
  rail?: RailName,
): Promise<PaymentRequired> {
  for (;;) {
    const response = await post(url, request, {}, signal);
    const required = response.headers.get("payment-required");
    const price = required === null ? undefined : decodePaymentRequiredHeader(required);
    if (price && (rail === undefined || isOffered(rail, price))) return price;
    if (!price && response.status !== 503)
      throw new Error(`no price, but HTTP ${response.status}: ${await response.text()}`);
    await sleep(PAUSE_MS, undefined, { signal });
  }
}

/**
 * Sends one payment with its request until an answer ends the purchase: the bundle, or a 402.
 *
 * @param url returns the service's URL for each attempt: a restarted service has another one
 * @throws the signal's reason
 */
export async function buy(
  url: () => string,
  request: Request,
  payment: SignedPayment,
  signal: AbortSignal,
): Promise<Purchase> {
  const answers: Answer[] = [];
  for (;;) {
    signal.throwIfAborted();
    try {
      const { answer, status, text } = await send(url(), request, payment, signal);
      answers.push(answer);
      if (status === 200 || status === 402) return { answers, status, text };
    } catch {
      answers.push("no answer");
    }
    await sleep(PAUSE_MS, undefined, { signal });
  }
}

/** Sends a payment with its request once. @throws when there is no complete answer */
export async function send(
  url: string,
  request: Request,
  { payload }: SignedPayment,
  signal: AbortSignal,
): Promise<{ answer: Answer; status: number; text: string }> {
  const headers = { "payment-signature": encodePaymentSignatureHeader(payload) };
  const response = await post(url, request, headers, signal);
  const text = await response.text();
  return { answer: summary(response.status, text), status: response.status, text };
}

function summary(status: number, text: string): Answer {
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
