import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { algorandClient, type Deployment, payUntilAnswered, post, sign, startDeployment } from "./deployment.ts";

type Line = { requestId?: string; key?: string; msg: string };

let deployment: Deployment;
const lines: Line[] = [];
beforeAll(async () => {
  const log = { write: (line: string) => void lines.push(JSON.parse(line)) };
  deployment = await startDeployment({ networks: [] }, { log_level: "debug" }, { log });
});
afterAll(() => deployment.close());

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const idOf = ({ headers }: { headers: Headers }) => headers.get("x-request-id");

describe("a request's id", () => {
  test("is in every answer, another one each time, and in every problem", async () => {
    const { url } = deployment;
    const attest = { txid: deployment.sandbox.sampleTransactions.algorand };
    const answers = await Promise.all([
      post(`${url}/attest`, attest),
      post(`${url}/attest`, attest),
      post(`${url}/attest`, "{"),
      post(`${url}/attest`, attest, { "payment-signature": "e30=" }),
      post(`${url}/health`, {}),
      post(`${url}/nothing`, {}),
      post(`${url}/mcp`, "{"),
      post(`${url}/a2a`, {}, { "content-type": "text/plain" }),
    ]);
    const ids = answers.map(idOf);
    for (const id of ids) expect(id).toMatch(UUID);
    expect(new Set(ids).size).toBe(ids.length);
    const problems = answers.filter(({ json }) => "code" in json);
    expect(problems.map(({ status }) => status)).toEqual([400, 400, 405, 404, 400, 415]);
    expect(problems.map(({ json }) => json.requestId)).toEqual(problems.map(idOf));
  });

  test("is in the problem of a tool and of a skill", async () => {
    const { url } = deployment;
    const payment = { x402Version: 2, accepted: { network: 1 } };
    const call = { name: "attest", arguments: { txid: "x" }, _meta: { "x402/payment": payment } };
    const accept = { accept: "application/json, text/event-stream" };
    const mcp = await post(`${url}/mcp`, { jsonrpc: "2.0", id: 1, method: "tools/call", params: call }, accept);
    expect(mcp.text).toContain(`"requestId":"${idOf(mcp)}"`);

    const part = { kind: "data", data: { skill: "attest", txid: "x" } };
    const message = { kind: "message", role: "user", messageId: "1", parts: [part] };
    const a2a = await post(`${url}/a2a`, { jsonrpc: "2.0", id: 1, method: "message/send", params: { message } });
    expect(a2a.json).toMatchObject({ error: { data: { code: "body_invalid", requestId: idOf(a2a) } } });
  });

  test("is in the answer to what is no HTTP, too", async () => {
    const socket = connect(Number(new URL(deployment.url).port), "127.0.0.1");
    socket.write("GET /health HTTP/3.0\r\n\r\n");
    const [head = "", body = ""] = (await text(socket)).split("\r\n\r\n");
    const id = /^x-request-id: (.*)$/m.exec(head)?.[1]?.trim();
    expect(JSON.parse(body)).toMatchObject({ code: "request_malformed", requestId: expect.stringMatching(UUID) });
    expect(JSON.parse(body).requestId).toBe(id);
  });

  test("is in every line of its purchase, and the payment's key in those of the call", async () => {
    const url = `${deployment.url}/attest`;
    const body = { txid: deployment.sandbox.sampleTransactions.algorand };
    const payment = await sign(url, body, algorandClient(deployment.sandbox));
    lines.length = 0;
    const bought = await payUntilAnswered(url, body, payment);
    expect(bought.status, bought.text).toBe(200);
    const replayed = await payUntilAnswered(url, body, payment);
    expect(replayed.text).toBe(bought.text);
    expect(idOf(replayed)).not.toBe(idOf(bought));

    const events = ["settlement_begun", "payment_proved", "attestation_signed", "attestation_confirmed"];
    const ofCall = lines.filter(({ msg }) => [...events, "bundle_sealed", "paid call ended"].includes(msg));
    expect(ofCall.map(({ msg }) => msg)).toEqual([...events, "paid call ended", "bundle_sealed"]);
    expect(new Set(ofCall.map(({ requestId }) => requestId))).toEqual(new Set([idOf(bought)]));
    expect(new Set(ofCall.map(({ key }) => key)).size).toBe(1);
    expect(ofCall[0]?.key).toMatch(/^algorand:\S+\/[A-Z2-7]{52}$/);
  });

  test("is the proxy's own where the settings trust a proxy, and only then", async () => {
    const headers = { "x-request-id": "0a1b2c3d4e5f60718293a4b5c6d7e8f9" };
    expect(idOf(await fetch(`${deployment.url}/health`, { headers }))).toMatch(UUID);
    await deployment.restart({ trust_proxy: true });
    expect(idOf(await fetch(`${deployment.url}/health`, { headers }))).toBe(headers["x-request-id"]);
    expect(idOf(await fetch(`${deployment.url}/health`, { headers: { "x-request-id": "<b>abcdefgh</b>" } }))).toMatch(
      UUID,
    );
  });
});
