import type { Message, Task } from "@a2a-js/sdk";
import { type Client, ClientFactory } from "@a2a-js/sdk/client";
import { type ProofBundle, parseJson, parseKeyHistory, verifyPaymentReceipt } from "@attestd/proof";
import { type RunningService, startService } from "@attestd/service";
import type { PaymentPayload, PaymentRequired } from "@x402/core/types";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startPostgres, type TestPostgres } from "../../packages/service/test/fakes/postgres.ts";
import { secret } from "../../packages/service/test/settings.ts";
import { algorandClient, type Deployment, pay, post, sign, startDeployment } from "./deployment.ts";
import { outsider } from "./ledger.ts";

let postgres: TestPostgres;
let deployment: Deployment;
/** A second replica on the same journal. */
let other: RunningService;
/** An official client of each replica. */
let agent: Client;
let agentOfOther: Client;

beforeAll(async () => {
  postgres = await startPostgres();
  const over = { journal: { url: secret(await postgres.database()) }, log_level: "silent" };
  deployment = await startDeployment({ networks: [] }, over);
  other = await startService(deployment.settings, { sandbox: true });
  const factory = new ClientFactory();
  agent = await factory.createFromUrl(deployment.url);
  agentOfOther = await factory.createFromUrl(other.url);
});
afterAll(async () => {
  await other?.close();
  await deployment?.close();
  await postgres?.close();
});

const txid = () => deployment.sandbox.sampleTransactions.algorand;

/** Sends a message to the service, as an agent does. */
function say(client: Client, message: Pick<Message, "parts"> & Partial<Message>, blocking = true) {
  const { messageId = crypto.randomUUID() } = message;
  return client.sendMessage({
    message: { kind: "message", role: "user", ...message, messageId },
    configuration: { blocking },
  }) as Promise<Task>;
}

function ask(client: Client, data: Record<string, unknown>) {
  return say(client, { parts: [{ kind: "data", data }] });
}

function payFor(client: Client, taskId: string, payment: PaymentPayload, blocking?: boolean) {
  const metadata = { "x402.payment.status": "payment-submitted", "x402.payment.payload": payment };
  return say(client, { taskId, metadata, parts: [{ kind: "text", text: "Here is the payment." }] }, blocking);
}

const metadataOf = ({ status }: Task) => status.message?.metadata ?? {};

/** Signs the payment that a task asks for, with only the stock x402 client. */
function signFor(task: Task): Promise<PaymentPayload> {
  return algorandClient(deployment.sandbox).createPaymentPayload(
    metadataOf(task)["x402.payment.required"] as PaymentRequired,
  );
}

function bundleOf({ artifacts }: Task): ProofBundle {
  const [part] = artifacts?.[0]?.parts ?? [];
  if (part?.kind !== "data") throw new Error("the task has no bundle");
  return part.data as unknown as ProofBundle;
}

async function counts() {
  const seen = outsider(deployment.sandbox);
  return [(await seen.payments()).length, (await seen.attestations()).length];
}

/** The JSON-RPC error of a rejected request. */
async function refusal(request: Promise<unknown>): Promise<string> {
  return request.then(
    () => "no refusal",
    (error: Error) => `${error.name}: ${error.message} ${JSON.stringify(error)}`,
  );
}

type Receipt = {
  transaction: string;
  extensions: { "offer-receipt": { info: { receipt: { signature: string } } } };
};

describe("an agent that reads the card", () => {
  let unpaid: Task;
  let payment: PaymentPayload;
  let bundle: ProofBundle;

  test("reads how to call each skill", async () => {
    const card = await agent.getAgentCard();
    expect(card.skills.map(({ id }) => id)).toEqual(expect.arrayContaining(["attest", "verify"]));
    const examples = card.skills.flatMap((skill) => skill.examples ?? []).filter((text) => text.includes("algorand"));
    expect(examples).not.toEqual([]);
    for (const text of examples)
      expect(await say(agent, { parts: [{ kind: "text", text }] })).toMatchObject({ kind: "task" });
  });

  test("gets an offer from any replica", async () => {
    unpaid = await ask(agent, { skill: "attest", txid: txid() });
    expect(unpaid).toMatchObject({ kind: "task", status: { state: "input-required" } });
    expect(metadataOf(unpaid)["x402.payment.status"]).toBe("payment-required");
    const seen = await agentOfOther.getTask({ id: unpaid.id });
    expect(seen.status.state).toBe("input-required");
    expect(metadataOf(seen)["x402.payment.required"]).toMatchObject({ accepts: [{ amount: "1000" }] });
  });

  test("pays at another replica without waiting, and gets its bundle with a later request", async () => {
    const before = await counts();
    payment = await signFor(unpaid);
    const begun = await payFor(agentOfOther, unpaid.id, payment, false);
    expect(begun).toMatchObject({ id: unpaid.id, status: { state: "working" } });

    const poll = expect.poll(async () => (await agent.getTask({ id: unpaid.id })).status.state, { timeout: 30_000 });
    await poll.toBe("completed");
    const done = await agent.getTask({ id: unpaid.id });
    bundle = bundleOf(done);
    expect(bundle.source.txnId).toBe(txid());
    expect(await counts()).toEqual(before.map((count) => count + 1));

    const [receipt] = metadataOf(done)["x402.payment.receipts"] as [Receipt];
    expect(receipt).toMatchObject({ success: true, payer: deployment.sandbox.payers.algorand.address });
    const history = await fetch(`${deployment.url}/.well-known/attestor-keys.json`);
    const keys = parseKeyHistory(parseJson(await history.text())).keys.map(({ pqPublicKey }) => pqPublicKey);
    const signed = verifyPaymentReceipt(receipt.extensions["offer-receipt"].info.receipt.signature, keys);
    expect(signed).toMatchObject({ transaction: receipt.transaction, resourceUrl: expect.stringMatching(/\/attest$/) });
  });

  test("verifies the bundle", async () => {
    const verified = (await ask(agent, { skill: "verify", chain: "1", ...bundle })) as unknown as Message;
    expect(verified.kind).toBe("message");
    expect(verified.parts[1]).toMatchObject({ data: { verified: true, checks: { chainAttest: "pass" } } });
    const attest = { ...bundle.attest, round: bundle.attest.round + 1 };
    const altered = (await ask(agent, { skill: "verify", ...bundle, attest })) as unknown as Message;
    expect(altered.parts[1]).toMatchObject({ data: { verified: false, checks: { signature: "fail" } } });
  });

  test("gets the same bundle for the same payment over A2A and HTTP, at no further charge", async () => {
    const before = await counts();
    expect(bundleOf(await payFor(agent, unpaid.id, payment))).toEqual(bundle);
    const overHttp = await pay(`${deployment.url}/attest`, { txid: txid() }, payment);
    expect(overHttp).toMatchObject({ status: 200, json: bundle });
    // A second payment for a task is not settled.
    expect(bundleOf(await payFor(agent, unpaid.id, await signFor(unpaid)))).toEqual(bundle);
    expect(await counts()).toEqual(before);
    expect(await refusal(agent.cancelTask({ id: unpaid.id }))).toMatch(/^TaskNotCancelableError/);
  });
});

describe("a payment that was used over HTTP", () => {
  test("brings the bundle that it has bought, and buys nothing else", async () => {
    const url = `${deployment.url}/attest`;
    const payment = await sign(url, { txid: txid() }, algorandClient(deployment.sandbox));
    const bought = await pay(url, { txid: txid() }, payment);
    expect(bought.status).toBe(200);
    const before = await counts();
    const same = await say(agent, { parts: [{ kind: "text", text: txid() }] });
    expect(bundleOf(await payFor(agent, same.id, payment))).toEqual(bought.json);

    const { algorandHeight: height } = deployment.sandbox.sampleTransactions;
    const block = await ask(agent, { skill: "attest-block", chain: "algorand", height });
    expect(await refusal(payFor(agent, block.id, payment))).toContain("payment_bound_to_other_request");
    expect((await agent.getTask({ id: block.id })).status.state).toBe("input-required");
    expect(await counts()).toEqual(before);
  });
});

describe("a task id", () => {
  test("that was not issued here is rejected", async () => {
    const { id } = await ask(agent, { skill: "attest", txid: txid() });
    const [content = "", nonce, mac] = id.split(".");
    const subject = { kind: "block", chain: "algorand", height: 1 };
    const forged = Buffer.from(JSON.stringify({ skill: "attest-block", subject })).toString("base64url");
    expect(forged).not.toBe(content);
    for (const bad of [[forged, nonce, mac].join("."), `${id}A`, "task-123"])
      expect(await refusal(agentOfOther.getTask({ id: bad }))).toMatch(/^TaskNotFoundError/);
  });

  test("of an unpaid task can be canceled", async () => {
    const { id } = await ask(agent, { skill: "attest", txid: txid() });
    expect((await agentOfOther.cancelTask({ id })).status.state).toBe("canceled");
  });
});

describe("the endpoint", () => {
  test("bounds the body, and accepts only JSON", async () => {
    const message = { role: "user", messageId: "m", parts: [{ kind: "text", text: "x".repeat(2_200_000) }] };
    const large = { jsonrpc: "2.0", id: 1, method: "message/send", params: { message } };
    expect(await post(`${deployment.url}/a2a`, large)).toMatchObject({ status: 413 });
    expect((await fetch(`${deployment.url}/a2a`, { method: "POST", body: "{}" })).status).toBe(415);
    expect((await fetch(`${deployment.url}/a2a`)).status).toBe(405);
  });
});
