import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { FacilitatorError, httpFacilitator } from "./facilitator.ts";

const answers: Record<string, { status: number; body: string } | "never"> = {};
const server = createServer((request, response) => {
  const answer = answers[request.url ?? ""];
  if (answer === "never") return;
  response.writeHead(answer?.status ?? 404, { "content-type": "application/json" }).end(answer?.body ?? "{}");
});
let url: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const payload = { x402Version: 2 } as never;
const ask = (signal = AbortSignal.timeout(5_000)) => httpFacilitator({ url }).verify(payload, {} as never, signal);

test("a refusal is an answer, whatever its status", async () => {
  answers["/verify"] = { status: 402, body: '{"isValid":false,"invalidReason":"insufficient_funds"}' };
  expect(await ask()).toEqual({ valid: false, reason: "insufficient_funds" });
  answers["/verify"] = { status: 200, body: '{"isValid":true}' };
  expect(await ask()).toEqual({ valid: true });
});

test.each([
  ["a failure", { status: 500, body: "{}" }],
  ["no JSON", { status: 200, body: "<html>" }],
  ["another shape", { status: 200, body: '{"isValid":"yes"}' }],
])("%s is no answer", async (_, answer) => {
  answers["/verify"] = answer;
  await expect(ask()).rejects.toThrow(FacilitatorError);
});

test("one that is silent until the caller's deadline gave no answer; a caller who leaves has its own reason", async () => {
  answers["/verify"] = "never";
  await expect(ask(AbortSignal.timeout(20))).rejects.toThrow(FacilitatorError);
  const reason = new Error("stopping");
  await expect(ask(AbortSignal.abort(reason))).rejects.toBe(reason);
});
