import { Agent, request } from "node:http";
import { bundleId } from "@attestd/proof";
import { encodePaymentSignatureHeader } from "@x402/core/http";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Contract, contractOf, type Exchange, type OpenApiDocument } from "./contract.ts";
import { algorandClient, type Deployment, post, sign, startDeployment } from "./deployment.ts";
import { type FuzzRequest, requestsOf } from "./fuzz-requests.ts";

/* Ten thousand requests drawn from the service's own OpenAPI document: none breaks it, and none gets an answer that the
   document does not describe. */

const AT_ONCE = 25;
const TIMES = 400;

let deployment: Deployment;
let document: OpenApiDocument;
let contract: Contract;
const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
beforeAll(async () => {
  deployment = await startDeployment();
  document = (await (await fetch(`${deployment.url}/openapi.json`)).json()) as OpenApiDocument;
  contract = contractOf(document);
});
afterAll(async () => {
  agent.destroy();
  await deployment.close();
});

function send({ method, path, headers, body = "" }: FuzzRequest): Promise<Exchange> {
  // Node does not frame the bodies of methods that usually have none.
  const framed = { ...headers, "content-length": String(Buffer.byteLength(body)) };
  return new Promise((resolve, reject) => {
    const sent = request(`${deployment.url}${path}`, { method, agent, headers: framed }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk) => chunks.push(chunk));
      incoming.on("end", () => {
        const answered = Object.entries(incoming.headers).map(([name, value]): [string, string] => [
          name,
          String(value),
        ]);
        resolve({
          method,
          path: new URL(path, deployment.url).pathname,
          status: incoming.statusCode ?? 0,
          headers: new Headers(answered),
          text: Buffer.concat(chunks).toString(),
        });
      });
      incoming.on("error", reject);
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

async function faultsOf(asked: FuzzRequest): Promise<string[]> {
  const answer = await send(asked);
  const faults = answer.status >= 500 ? [`status ${answer.status}: ${answer.text}`] : contract(answer);
  return faults.map((fault) => `${asked.method} ${asked.path}: ${fault}`);
}

const title = `of ${AT_ONCE * TIMES} requests none breaks the service or gets an answer that is not described`;
test(title, { timeout: 240_000 }, async () => {
  // Bundles and payments of real purchases are among the requests.
  const { algorand, base } = deployment.sandbox.sampleTransactions;
  const body = { txid: algorand };
  const url = `${deployment.url}/attest`;
  const payment = await sign(url, body, algorandClient(deployment.sandbox));
  const headers = { "payment-signature": encodePaymentSignatureHeader(payment) };
  const { status, json: bundle } = await post(url, body, headers);
  expect(status).toBe(200);
  const unspent = await sign(url, { txid: base }, algorandClient(deployment.sandbox));
  const unsigned = { ...unspent, payload: { ...unspent.payload, paymentIndex: 7 } };

  const requests = requestsOf(document, {
    bodies: [body, bundle, { txid: base, chain: "base" }],
    payments: [payment, unsigned],
    ids: ["body_invalid", bundleId(bundle as never)],
  });
  await fc.assert(
    fc.asyncProperty(fc.array(requests, { minLength: AT_ONCE, maxLength: AT_ONCE }), async (together) => {
      const faults = await Promise.all(together.map(faultsOf));
      expect(faults.flat()).toEqual([]);
    }),
    { numRuns: TIMES },
  );
  expect((await fetch(`${deployment.url}/ready`)).status).toBe(200);
});
