import { type VerifyReport, verify } from "@attestd/proof";
import { utf8 } from "@attestd/proof/encoding";
import type { JsonObject } from "@attestd/proof/json";
import fc from "fast-check";
import pino from "pino";
import { describe, expect, test, vi } from "vitest";
import { ask as askRoute } from "../../../test/fakes/transport.ts";
import type { Admit } from "../../calls/admit.ts";
import { type Outcome, type Recall, unanswered } from "../../calls/outcome.ts";
import { pending } from "../../calls/problems.ts";
import { X402_A2A_EXTENSION } from "../../catalogue/about.ts";
import { CATALOGUE } from "../../catalogue/catalogue.ts";
import { Problem } from "../../lib/problems.ts";
import { encodeHeader } from "../../payment/header.ts";
import { createOffers, type Offers } from "../../payment/offers.ts";
import { ANY_SALE } from "../../payment/sale.ts";
import type { Subject } from "../../subjects/subject.ts";
import { readMessage } from "../endpoints/messages.ts";
import type { Operation, Operations } from "../endpoints/operations.ts";
import { a2aRoute } from "./agent.ts";
import { PAYMENT } from "./message.ts";
import { createTaskIds } from "./task-id.ts";

const SUBJECT: Subject = { kind: "transaction", chain: "algorand", id: "ID" };
const PAID = { x402Version: 2, accepted: { network: "n" }, payload: { signature: "s" } };
const ids = createTaskIds(new Uint8Array(32));

const REQUIRED: Outcome = { kind: "payment_required", accepts: [], options: [], extensions: {} };
const DELIVERED: Outcome = { kind: "delivered", body: '{"version":1}', receipt: encodeHeader({ success: true }) };
const VOID: Outcome = { ...REQUIRED, error: "expired", receipt: encodeHeader({ success: false }) };
const SETTLING = unanswered(pending("settlement_pending", "Settling."));
const REPORT = { verified: true, type: "transaction-attestation" } as VerifyReport;

const OPERATIONS: Operations = Object.fromEntries(
  Object.entries(CATALOGUE).map(([id, { access }]): [string, Operation] => [
    id,
    access === "paid"
      ? { kind: "paid", probe: ANY_SALE, subject: () => SUBJECT, sale: () => ANY_SALE }
      : { kind: "verify", verify: async () => ({ report: REPORT }) },
  ]),
);

/** The outcomes of a payment: what `admit` returns now, and `recall` afterwards. */
type Course = { now?: Outcome | Error; later?: Outcome | Error };

type TaskResult = {
  kind: string;
  id: string;
  status: { state: string; message: { metadata: JsonObject } };
  artifacts?: object[];
};
type Answer = {
  id: unknown;
  result?: TaskResult;
  error?: { code: number; message: string; data?: JsonObject };
};

/** A route that is called without a network. */
function aRoute({ now = REQUIRED, later }: Course = {}, operations = OPERATIONS) {
  const log = pino({ level: "silent" });
  const logged = vi.spyOn(log, "error");
  const admit = vi.fn<Admit>(async () => thrown(now));
  const recall: Recall = async () => later && thrown(later);
  const offers = createOffers({ itemPrice: 100n, rails: [], maxTimeoutSeconds: 1, now: Date.now });
  // A 402 needs at least one offer.
  vi.spyOn(offers, "for").mockReturnValue([{} as ReturnType<Offers["for"]>[number]]);
  const origin = "https://attestd.example";
  const options = { admit, recall, offers, catalogue: CATALOGUE, operations, ids, origin, log };
  const route = a2aRoute({ ...options, readMessage: async (body, form) => readMessage(body, form) });

  const post = (body: string, headers: Record<string, string> = {}) =>
    askRoute(route, { headers: { "content-type": "application/json", ...headers }, body });
  async function send(body: string): Promise<Answer> {
    const response = await post(body);
    expect(response.status).toBe(200);
    return (await response.json()) as Answer;
  }
  const ask = (method: string, params: unknown) => send(JSON.stringify({ jsonrpc: "2.0", id: 7, method, params }));
  const say = (message: object, configuration?: object) =>
    ask("message/send", { message: { role: "user", messageId: "m", parts: [], ...message }, configuration });
  const pay = (taskId: string, payment: unknown = PAID, configuration?: object) =>
    say({ taskId, metadata: { [PAYMENT.payload]: payment } }, configuration);
  return { post, send, ask, say, pay, admit, logged };
}

function thrown(outcome: Outcome | Error): Outcome {
  if (outcome instanceof Error) throw outcome;
  return outcome;
}

const data = (content: object) => ({ parts: [{ kind: "data", data: content }] });
const text = (content: string) => ({ parts: [{ kind: "text", text: content }] });
const newTask = () => ids.issue({ skill: "attest", subject: SUBJECT });
const payment = (result: TaskResult | undefined) => result?.status.message.metadata;

describe("JSON-RPC", () => {
  test.each([
    ["no JSON", "{", -32700],
    ["a member twice", '{"id":1,"id":2}', -32700],
    ["nesting without end", "[".repeat(1000), -32700],
    ["a batch", "[]", -32600],
    ["nothing", "null", -32600],
    ["another version", '{"jsonrpc":"1.0","id":1,"method":"tasks/get"}', -32600],
    ["no id", '{"jsonrpc":"2.0","method":"tasks/get"}', -32600],
    ["an unknown method", '{"jsonrpc":"2.0","id":1,"method":"message/stream"}', -32601],
    ["a member of every object as the method", '{"jsonrpc":"2.0","id":1,"method":"constructor"}', -32601],
    ["no params", '{"jsonrpc":"2.0","id":1,"method":"tasks/get"}', -32602],
    ["params of another form", '{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":[1]}', -32602],
    ["an unknown task", '{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"x"}}', -32001],
  ])("%s is answered with its code", async (_, body, code) => {
    expect(await aRoute().send(body)).toMatchObject({ jsonrpc: "2.0", error: { code } });
  });

  test("answers have the request's id, and null where there is none", async () => {
    const { send } = aRoute();
    expect((await send('{"jsonrpc":"2.0","id":"a","method":"x"}')).id).toBe("a");
    expect((await send('{"id":5}')).id).toBe(5);
    expect((await send('{"id":{}}')).id).toBeNull();
  });

  test("garbage is always answered in JSON-RPC, and never with an internal error", async () => {
    const { ask, send, logged } = aRoute();
    const method = fc.constantFrom("message/send", "tasks/get", "tasks/cancel");
    const part = fc.record({ kind: fc.constantFrom("text", "data", "file"), text: fc.string(), data: fc.jsonValue() });
    const message = fc.record(
      {
        role: fc.constantFrom<unknown>("user", "agent", 1),
        parts: fc.array(part),
        taskId: fc.oneof(fc.string(), fc.constant(newTask())),
        metadata: fc.dictionary(fc.constantFrom(...Object.values(PAYMENT)), fc.jsonValue()),
      },
      { requiredKeys: [] },
    );
    const params = fc.oneof(fc.jsonValue(), fc.record({ message }), fc.record({ id: fc.string() }));
    await fc.assert(fc.asyncProperty(method, params, async (name, given) => void (await ask(name, given))));
    await fc.assert(fc.asyncProperty(fc.string(), async (body) => void (await send(body))));
    expect(logged).not.toHaveBeenCalled();
  });

  test("an internal error is -32603, is logged, and states that a payment is safe", async () => {
    const { pay, logged } = aRoute({ now: new TypeError("broken") });
    expect((await pay(newTask())).error).toMatchObject({
      code: -32603,
      data: { code: "internal", retry: { sameHeader: true } },
    });
    expect(logged).toHaveBeenCalled();
  });

  test("over HTTP only JSON is accepted, and the payment extension is listed when it is requested", async () => {
    const { post } = aRoute();
    await expect(post("{}", { "content-type": "text/plain" })).rejects.toMatchObject({ code: "media_type" });
    const none = await post("{}");
    expect(none.headers.get("x-a2a-extensions")).toBeNull();
    const asked = await post("{}", { "x-a2a-extensions": `urn:other, ${X402_A2A_EXTENSION}` });
    expect(asked.headers.get("x-a2a-extensions")).toBe(X402_A2A_EXTENSION);
  });
});

describe("a message", () => {
  test.each([
    ["a data part", data({ skill: "attest", txid: "ID" })],
    ["the JSON of a data part as text", text('{"skill":"attest","txid":"ID"}')],
    ["a transaction's id as text", text(" ID\n")],
    ["a data part and a text", { parts: [...text("please").parts, ...data({ skill: "attest", txid: "ID" }).parts] }],
  ])("requests a paid skill with %s, and gets a task that requires a payment", async (_, parts) => {
    const { say, admit } = aRoute();
    const { result } = await say(parts);
    expect(result).toMatchObject({ kind: "task", status: { state: "input-required" } });
    expect(payment(result)).toMatchObject({
      [PAYMENT.status]: "payment-required",
      [PAYMENT.required]: { x402Version: 2, resource: { url: "https://attestd.example/attest" } },
    });
    expect(ids.read(result?.id ?? "")).toEqual({ skill: "attest", subject: SUBJECT });
    expect(admit).not.toHaveBeenCalled();
  });

  test("requests a free skill and is answered at once", async () => {
    const { result } = await aRoute().say({ ...data({ skill: "verify", version: 1 }), contextId: "c" });
    expect(result).toMatchObject({ kind: "message", role: "agent", contextId: "c" });
    expect(result).toMatchObject({ parts: [{ text: "Verified." }, { data: { verified: true } }] });
  });

  test("with a bundle that is not verified is answered with the report", async () => {
    const report = verify(utf8("{}"));
    const operations: Operations = { ...OPERATIONS, verify: { kind: "verify", verify: async () => ({ report }) } };
    const { result } = await aRoute({}, operations).say(data({ skill: "verify" }));
    expect(result).toMatchObject({ parts: [{ text: "Not verified: schema." }, { data: { verified: false } }] });
  });

  test.each([
    ["no skill", data({ txid: "ID" })],
    ["an unknown skill", data({ skill: "mint" })],
    ["two data parts", { parts: [...data({ skill: "attest" }).parts, ...data({ skill: "attest" }).parts] }],
    ["nothing", {}],
    ["a file", { parts: [{ kind: "file", file: { uri: "https://x" } }] }],
    ["arguments above the endpoint's limit", data({ skill: "attest", txid: "x".repeat(70_000) })],
    ["a payment for no task", { ...text("ID"), metadata: { [PAYMENT.payload]: PAID } }],
  ])("with %s is refused as invalid", async (_, message) => {
    expect((await aRoute().say(message)).error).toMatchObject({ code: -32602, data: { status: expect.any(Number) } });
  });
});

describe("a payment for a task", () => {
  test("is admitted under the task's name, and completes it", async () => {
    const { pay, admit } = aRoute({ now: DELIVERED });
    const id = newTask();
    const { result } = await pay(id);
    expect(admit).toHaveBeenCalledExactlyOnceWith(SUBJECT, PAID, { name: `a2a-task/${id}`, wait: true });
    expect(result).toMatchObject({
      id,
      status: { state: "completed" },
      artifacts: [{ parts: [{ kind: "data", data: { version: 1 } }] }],
    });
    expect(payment(result)).toMatchObject({
      [PAYMENT.status]: "payment-completed",
      [PAYMENT.receipts]: [{ success: true }],
    });
  });

  test("is not waited for when the client does not block, and the task is working", async () => {
    const { pay, admit } = aRoute({ now: SETTLING, later: SETTLING });
    const { result } = await pay(newTask(), PAID, { blocking: false });
    expect(admit.mock.lastCall?.[2]).toMatchObject({ wait: false });
    expect(result?.status.state).toBe("working");
    expect(payment(result)).toEqual({ [PAYMENT.status]: "payment-verified" });
  });

  test("that is refused leaves the task open for another one", async () => {
    const { result } = await aRoute({ now: { ...REQUIRED, error: "too little" } }).pay(newTask());
    expect(result?.status.state).toBe("input-required");
    expect(payment(result)).toMatchObject({
      [PAYMENT.status]: "payment-failed",
      [PAYMENT.error]: "PAYMENT_REFUSED",
      [PAYMENT.required]: { error: "too little" },
      [PAYMENT.receipts]: [{ success: false, errorReason: "too little", network: "n" }],
    });
  });

  test("whose settlement fails makes the task fail", async () => {
    const { pay, ask } = aRoute({ now: VOID, later: VOID });
    const id = newTask();
    for (const { result } of [await pay(id), await ask("tasks/get", { id })]) {
      expect(result?.status.state).toBe("failed");
      expect(payment(result)).toMatchObject({
        [PAYMENT.error]: "SETTLEMENT_FAILED",
        [PAYMENT.receipts]: [{ success: false }],
      });
    }
  });

  test("that is in flight for another task is answered as such, and never requires a payment for this one", async () => {
    expect((await aRoute({ now: SETTLING }).pay(newTask())).error).toMatchObject({
      code: -32000,
      data: { code: "settlement_pending", retry: { sameHeader: true }, retryAfter: expect.any(Number) },
    });
  });

  test("that is malformed is invalid, and one that exceeds the limit of headers is refused unread", async () => {
    const { pay, admit } = aRoute();
    expect((await pay(newTask(), "x")).error).toMatchObject({ code: -32602, data: { code: "payment_malformed" } });
    const large = { ...PAID, payload: { signature: "s".repeat(17_000) } };
    await expect(pay(newTask(), large)).rejects.toMatchObject({ code: "body_too_large" });
    expect(admit).not.toHaveBeenCalled();
  });

  test("for a task that was never issued is not admitted", async () => {
    const { pay, admit } = aRoute({ now: DELIVERED });
    expect((await pay(`${newTask()}x`)).error?.code).toBe(-32001);
    expect(admit).not.toHaveBeenCalled();
  });
});

describe("a task", () => {
  test("that is unpaid is read from its id, and canceled or rejected without being stored", async () => {
    const { ask, say } = aRoute();
    const id = newTask();
    expect((await ask("tasks/get", { id })).result?.status.state).toBe("input-required");
    expect((await say({ taskId: id })).result?.status.state).toBe("input-required");
    expect((await ask("tasks/cancel", { id })).result?.status.state).toBe("canceled");
    const rejected = await say({ taskId: id, metadata: { [PAYMENT.status]: "payment-rejected" } });
    expect(rejected.result?.status.state).toBe("canceled");
    expect((await ask("tasks/cancel", { id: "x" })).error?.code).toBe(-32001);
  });

  test.each([
    ["completed", DELIVERED],
    ["working", SETTLING],
    ["failed", unanswered(new Problem("payment_refunded", "Given back."))],
  ])("that is paid is %s by the journal, also under an older key, and cannot be canceled", async (state, later) => {
    const { ask } = aRoute({ later });
    for (const id of [newTask(), "issued under a key that was replaced"]) {
      expect((await ask("tasks/get", { id })).result?.status.state).toBe(state);
      expect((await ask("tasks/cancel", { id })).error?.code).toBe(-32002);
    }
  });

  test("is not answered from its id where the journal cannot be read", async () => {
    const { ask, logged } = aRoute({ later: new Error("disk") });
    expect((await ask("tasks/get", { id: newTask() })).error?.code).toBe(-32603);
    expect(logged).toHaveBeenCalled();
  });
});
