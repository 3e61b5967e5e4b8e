import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import { testHistory } from "../../../test/bundles/bundles.ts";

/** A request to the fake service: the path, the payment header as sent, and the body. */
export type Seen = { path: string | undefined; header: string | undefined; body: unknown };

/** How one request is answered: completely, in part, or not at all. */
export type Reply =
  | { status: number; headers?: Record<string, string>; body?: string | Uint8Array }
  | "hang up"
  | "cut short";

const PATHS = ["/attest", "/attest-batch", "/attest-block", "/prove-tx-inclusion"];

export interface FakeService extends AsyncDisposable {
  url: string;
  /** The requests to paid routes. */
  requests: Seen[];
  /** The key list at `/.well-known/attestor-keys.json`. */
  keys: object;
  /** The clock of its Date headers: ms since 1970. */
  now(): number;
}

/**
 * Starts a service on real HTTP that answers each POST to a paid route with the next reply of a script.
 * @param script replies, or functions that get the request and return one
 */
export async function fakeService(
  ...script: (Reply | ((seen: Seen) => Reply | Promise<Reply>))[]
): Promise<FakeService> {
  const requests: Seen[] = [];
  const server = createServer(async (incoming, outgoing) => {
    if (incoming.method === "GET" && incoming.url === "/.well-known/attestor-keys.json") {
      outgoing.end(JSON.stringify(service.keys));
      return;
    }
    const seen = {
      path: incoming.url,
      header: incoming.headers["payment-signature"] as string | undefined,
      body: await readJson(incoming),
    };
    requests.push(seen);
    const step = script[requests.length - 1];
    if (incoming.method !== "POST" || !PATHS.includes(incoming.url ?? "") || step === undefined) {
      outgoing.writeHead(599).end();
      return;
    }
    const reply = typeof step === "function" ? await step(seen) : step;
    outgoing.setHeader("date", new Date(service.now()).toUTCString());
    answer(outgoing, reply);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const service: FakeService = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    keys: testHistory(),
    now: Date.now,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return service;
}

async function readJson(incoming: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString());
}

function answer(outgoing: ServerResponse, reply: Reply): void {
  if (reply === "hang up") {
    outgoing.destroy();
  } else if (reply === "cut short") {
    outgoing.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
    outgoing.write('{"version":', () => outgoing.destroy());
  } else {
    outgoing.writeHead(reply.status, reply.headers).end(reply.body);
  }
}

export const ALGORAND_OFFER: PaymentRequirements = {
  scheme: "exact",
  network: "algorand:wGHE2Pwdvd7S12BL5FaOP20EGYesN73k",
  amount: "1000",
  asset: "31566704",
  payTo: "PAYTOALGORAND",
  maxTimeoutSeconds: 120,
  extra: { feePayer: "FEEPAYER" },
};

export const BASE_OFFER: PaymentRequirements = {
  scheme: "exact",
  network: "eip155:8453",
  amount: "1000",
  asset: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
  payTo: "0x1111111111111111111111111111111111111111",
  maxTimeoutSeconds: 120,
  extra: { name: "USD Coin (attestd sandbox)", version: "2" },
};

/** A 402 with offers. */
export function paymentRequired(accepts: PaymentRequirements[], error?: string): Reply {
  const required = { x402Version: 2, ...(error && { error }), resource: { url: "http://service/attest" }, accepts };
  return { status: 402, headers: { "payment-required": toHeader(required) }, body: JSON.stringify(required) };
}

/** problem+json. */
export function problem(
  status: number,
  code: string,
  { retryAfter, sameHeader }: { retryAfter?: number; sameHeader?: boolean } = {},
): Reply {
  return {
    status,
    headers: {
      "content-type": "application/problem+json",
      ...(retryAfter !== undefined && { "retry-after": String(retryAfter) }),
    },
    body: JSON.stringify({ status, code, detail: `detail of ${code}`, ...(sameHeader && { retry: { sameHeader } }) }),
  };
}

/** Makes a Base payment as far as the client reads it. @param signature tells payments apart */
export function basePayment(offer: PaymentRequirements, signature: unknown, dateMs: number): PaymentPayload {
  const validBefore = String(Math.floor(dateMs / 1000) + offer.maxTimeoutSeconds);
  return { x402Version: 2, accepted: offer, payload: { signature, authorization: { validBefore } } };
}

/** A service that takes payments and denies it: a script for any number of requests. */
export function hostileScript(offer = BASE_OFFER): ((seen: Seen) => Reply)[] {
  const sent = new Set<string>();
  const reply = ({ header }: Seen): Reply => {
    const isNew = header !== undefined && !sent.has(header);
    if (header !== undefined) sent.add(header);
    return isNew ? problem(404, "source_not_found", { retryAfter: 0 }) : paymentRequired([offer], header && "expired");
  };
  return Array.from({ length: 1000 }, () => reply);
}

/** 200 with a bundle and a receipt. */
export function delivery(bundle: Uint8Array): Reply {
  const receipt = { success: true, transaction: "SETTLEMENT", network: ALGORAND_OFFER.network, payer: "PAYER" };
  return {
    status: 200,
    headers: { "content-type": "application/json", "payment-response": toHeader(receipt) },
    body: bundle,
  };
}

function toHeader(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString("base64");
}
