import { encodePaymentSignatureHeader } from "@x402/core/http";
import type { PaymentPayload } from "@x402/core/types";
import { algorandClient, pay, sign } from "../test/e2e/deployment.ts";
import type { Load, Request } from "./load.ts";
import { type Effort, timed } from "./measure.ts";
import type { Networks, Server } from "./server.ts";

/** One attestation that was bought: what asks for its price, what is sent again for the same bytes, and the bundle. */
export type Bought = { challenge: Request; replay: Request; bundle: string };

/** Buys an attestation of the Algorand sample. @throws Error when the answer is no bundle */
export async function buy(attestd: Pick<Server, "url">, networks: Networks): Promise<Bought> {
  const { request, payment } = await signed(attestd, networks);
  const bundle = await bundleFor(attestd, request, payment);
  const challenge: Request = { method: "POST", path: "/attest", body: JSON.stringify(request) };
  const headers = { "payment-signature": encodePaymentSignatureHeader(payment) };
  return { challenge, replay: { ...challenge, headers }, bundle };
}

/**
 * A turn of one paid call.
 * @param seller who is paid: attestd itself, or another with the same offers
 * @param txid the source; the sandbox's sample unless given
 * @returns ms from the payment's leaving to what it pays for
 */
export function paidCall(attestd: Server, networks: Networks, seller = attestd, txid?: string): () => Promise<number> {
  return async () => {
    const { request, payment } = await signed(attestd, networks, { txid });
    return timed(() => bundleFor(seller, request, payment));
  };
}

/** Requests that bring a payment each, signed beforehand. @param txid the source; the sandbox's sample unless given */
export async function paidRequests(
  attestd: Server,
  networks: Networks,
  count: number,
  txid?: string,
): Promise<Request[]> {
  const requests: Request[] = [];
  const client = algorandClient(networks.sandbox);
  for (let i = 0; i < count; i++) {
    const { request, payment } = await signed(attestd, networks, { client, txid });
    const headers = { "payment-signature": encodePaymentSignatureHeader(payment) };
    requests.push({ method: "POST", path: "/attest", body: JSON.stringify(request), headers });
  }
  return requests;
}

/** Of a ledger on which many pay at once. */
export const ROUND_MS = 1_000;

/** Payments in flight: a thousand in a full run, half as many as are made in a turn in a quick one. */
export function inFlight({ payments }: Effort): number {
  return Math.min(1_000, payments / 2);
}

/** Sends requests of `paidRequests`, `inFlight` at a time, of which the first begin within two rounds. */
export function payAll(load: Load, { url }: Server, requests: readonly Request[], effort: Effort) {
  return load.run(url, requests, { connections: inFlight(effort), rampMs: 2 * ROUND_MS, status: 200 });
}

type SignedOptions = { client?: ReturnType<typeof algorandClient>; txid?: string | undefined };

async function signed(
  { url }: Pick<Server, "url">,
  { sandbox }: Networks,
  { client = algorandClient(sandbox), txid = sandbox.sampleTransactions.algorand }: SignedOptions = {},
) {
  const request = { txid };
  return { request, payment: await sign(`${url}/attest`, request, client) };
}

async function bundleFor({ url }: Pick<Server, "url">, request: object, payment: PaymentPayload): Promise<string> {
  const { status, text } = await pay(`${url}/attest`, request, payment);
  if (status !== 200) throw new Error(`${url} answered ${status}: ${text}`);
  return text;
}
