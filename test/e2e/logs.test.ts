import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { algorandClient, type Deployment, payUntilAnswered, post, sign, startDeployment } from "./deployment.ts";

type Line = Record<string, unknown> & { msg: string };

let deployment: Deployment;
const lines: Line[] = [];
const linesOf = (msg: string) => lines.filter((line) => line.msg === msg);
beforeAll(async () => {
  const log = { write: (line: string) => void lines.push(JSON.parse(line)) };
  deployment = await startDeployment({ networks: [] }, { log_level: "info", access_log: true }, { log });
});
afterAll(() => deployment.close());

describe("a purchase", () => {
  let line: Line;
  beforeAll(async () => {
    const url = `${deployment.url}/attest`;
    const body = { txid: deployment.sandbox.sampleTransactions.algorand };
    const payment = await sign(url, body, algorandClient(deployment.sandbox));
    const { status, json } = await payUntilAnswered(url, body, payment);
    expect(status).toBe(200);
    const ended = linesOf("paid call ended");
    expect(ended).toHaveLength(1);
    line = ended[0] as Line;
    expect(line.attestation).toBe((json as { attest: { txnId: string } }).attest.txnId);
  });

  test("has one line with what an operator asks for", () => {
    const { sandbox } = deployment;
    expect(line).toMatchObject({
      level: "info",
      outcome: "done",
      rail: "algorand",
      network: expect.stringMatching(/^algorand:/),
      amount: "1000",
      payer: sandbox.payers.algorand.address,
      subject: { kind: "transaction", chain: "algorand", id: sandbox.sampleTransactions.algorand },
      facilitator: expect.stringContaining("http"),
      payment: expect.stringMatching(/^[A-Z2-7]{52}$/),
      round: expect.any(Number),
    });
  });

  test("has the time of every stage, which are no longer than the whole", () => {
    const stages = line.stages as Record<string, number>;
    expect(Object.keys(stages).toSorted()).toEqual([
      "reconcile",
      "seal",
      "settle",
      "sign",
      "source",
      "submit",
      "verify",
    ]);
    const { verify: _verify, source: _source, ...afterwards } = stages;
    const sum = Object.values(afterwards).reduce((total, ms) => total + ms, 0);
    // Commits come in addition, and each of the five is rounded.
    expect(sum).toBeLessThanOrEqual((line.ms as number) + 3);
    expect(sum).toBeGreaterThan(0);
  });
});

describe("the access log", () => {
  test("has a line for each request, of its route and not of its URL", async () => {
    lines.length = 0;
    const id = "A".repeat(43);
    const answers = [
      await fetch(`${deployment.url}/bundles/${id}?token=s3cret`),
      await fetch(`${deployment.url}/s3cret`),
      await post(`${deployment.url}/attest`, { txid: "s3cret" }, { "payment-signature": "czNjcmV0" }),
      await fetch(`${deployment.url}/health`, { method: "HEAD" }),
      await fetch(`${deployment.url}/attest`, { method: "OPTIONS" }),
    ];
    await expect.poll(() => linesOf("request").length).toBe(answers.length);
    const common = { level: "info", client: "127.0.0.1", bytes: expect.any(Number), ms: expect.any(Number) };
    const line = (i: number, members: object) => ({
      ...common,
      requestId: answers[i]?.headers.get("x-request-id"),
      ...members,
    });
    expect(linesOf("request")).toEqual(
      [
        line(0, { method: "GET", route: "/bundles/:id", status: 404, payment: false }),
        line(1, { method: "GET", route: "other", status: 404, payment: false }),
        line(2, { method: "POST", route: "/attest", status: 400, payment: true }),
        line(3, { method: "HEAD", route: "/health", status: 200, payment: false, bytes: 0 }),
        line(4, { method: "OPTIONS", route: "/attest", status: 204, payment: false, bytes: 0 }),
      ].map((each) => expect.objectContaining(each)),
    );
    expect(JSON.stringify(lines)).not.toContain("s3cret");
    expect(JSON.stringify(lines)).not.toContain("czNjcmV0");
  });

  test("has the bytes of the body, also of a stream", async () => {
    lines.length = 0;
    const init = { accept: "application/json, text/event-stream" };
    const listed = await post(`${deployment.url}/mcp`, { jsonrpc: "2.0", id: 1, method: "tools/list" }, init);
    await expect.poll(() => linesOf("request").length).toBe(1);
    expect(linesOf("request")[0]).toMatchObject({ route: "/mcp", status: 200 });
    expect(linesOf("request")[0]?.bytes).toBeGreaterThan(0);
    expect(listed.text.length).toBeGreaterThan(1_000);
  });

  test("says that a client hung up before its answer", async () => {
    lines.length = 0;
    const socket = connect(Number(new URL(deployment.url).port), "127.0.0.1");
    socket.write("POST /attest HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\n{");
    const arrived = text(socket);
    setImmediate(() => socket.destroySoon());
    await arrived.catch(() => undefined);
    await expect
      .poll(() => linesOf("request"))
      .toEqual([expect.objectContaining({ route: "/attest", isCut: true, bytes: 0 })]);
  });

  test("is off unless it is asked for", async () => {
    await deployment.restart({ access_log: undefined });
    lines.length = 0;
    await fetch(`${deployment.url}/health`);
    await deployment.restart();
    expect(lines.map(({ msg }) => msg)).toContain("closed");
    expect(linesOf("request")).toEqual([]);
  });
});
