import { createPayAIAuthHeaders } from "@payai/facilitator";
import { HTTPFacilitatorClient } from "@x402/core/http";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type StubRail, stubPayment, stubRail } from "../../test/stub-rail.ts";
import { type Listening, listen } from "../http.ts";
import { serveJsonRpc } from "../jsonrpc.ts";
import { type Facilitator, startFacilitator } from "./server.ts";

const BLOCKHASH = "9g3MqYGN5FAvqS1UiuNk6LofabdfM3Nod9pEV6LyN8TQ";

let rail: StubRail;
let node: Listening;
let facilitator: Facilitator;
beforeEach(async () => {
  rail = stubRail();
  const value = { blockhash: BLOCKHASH, lastValidBlockHeight: 423932567 };
  node = await listen(
    serveJsonRpc(async () => ({ context: { slot: 1 }, value })),
    { server: "solana" },
  );
  facilitator = await startFacilitator({ kind: "payai", rails: [rail.register], solanaRpcUrl: node.url });
});
afterEach(async () => {
  await facilitator.close();
  await node.close();
});

/** Makes a stock client with the headers of PayAI's own package. */
function merchant({ keyId, secret } = facilitator.credentials[0] ?? { keyId: "", secret: "" }) {
  return new HTTPFacilitatorClient({ url: facilitator.url, createAuthHeaders: createPayAIAuthHeaders(keyId, secret) });
}

async function settle(nonce: string, headers: Record<string, string> = {}) {
  const { payload, requirements } = stubPayment(nonce, "solana");
  const response = await fetch(`${facilitator.url}/settle`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ x402Version: 2, paymentPayload: payload, paymentRequirements: requirements }),
  });
  const text = await response.text();
  return { status: response.status, text, json: text.startsWith("{") ? JSON.parse(text) : undefined };
}

test("takes the tokens of PayAI's own package, and the same one again", async () => {
  const { payload, requirements } = stubPayment("merchant");
  const client = merchant();
  expect(await client.verify(payload, requirements)).toEqual({ isValid: true });
  expect(await client.verify(payload, requirements)).toEqual({ isValid: true });
  expect(await client.settle(payload, requirements)).toMatchObject({ success: true });
});

test("serves without a token, and never by an invalid one", async () => {
  expect(await settle("free")).toMatchObject({ status: 200, json: { success: true } });
  const { secret = "" } = facilitator.credentials[0] ?? {};
  const stranger = await createPayAIAuthHeaders("another", secret)();
  for (const headers of [stranger.settle, { Authorization: "Bearer payai_sk_nonsense" }, { Authorization: "" }])
    expect(await settle("refused", headers)).toMatchObject({
      status: 401,
      json: { success: false, errorReason: "unauthorized", transaction: "" },
    });
  expect(rail.settled).toEqual(["free"]);
});

test("answers a body that is no payment before it looks at the token, to verify alone", async () => {
  const post = (path: string) =>
    fetch(`${facilitator.url}/${path}`, { method: "POST", body: "{}", headers: { Authorization: "Bearer x" } });
  expect([(await post("verify")).status, (await post("settle")).status]).toEqual([400, 401]);
});

test("lists Solana with the members of the recorded answer of 2026-09-10", async () => {
  const { kinds } = await merchant().getSupported();
  expect(kinds).toEqual([
    { x402Version: 2, scheme: "exact", network: "eip155:8453" },
    {
      x402Version: 2,
      scheme: "exact",
      network: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
      extra: {
        feePayer: "CjNFTjvBhbJJd2B5ePPMHRLx1ELZpa8dwQgGL727eKww",
        recentBlockhash: BLOCKHASH,
        lastValidBlockHeight: "423932567",
      },
    },
  ]);
});

test("answers a repeated settlement 409 while it is in flight, and then with the recorded outcome", async () => {
  facilitator.behave("settle=pending:300*1");
  const pending = { success: false, errorReason: "settlement_pending", transaction: "" };
  expect(await settle("once")).toMatchObject({ status: 200, json: pending });
  expect(await settle("once")).toMatchObject({ status: 409, json: { errorReason: "duplicate_settlement" } });
  await expect.poll(async () => (await settle("once")).json.success, { timeout: 5_000 }).toBe(true);
  expect(rail.settled).toEqual(["once"]);
});

test("answers 403 and 429 as its documents state", async () => {
  facilitator.behave("settle=exhausted");
  expect(await settle("paid")).toMatchObject({ status: 403, json: { errorReason: "free_tier_exhausted" } });
  facilitator.behave("settle=limited");
  expect(await settle("paid")).toMatchObject({ status: 429, json: undefined });
  expect(rail.settled).toEqual([]);
});
