import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { answerUnread } from "./unread.ts";

const ORIGIN = "https://attestd.example";
/** The path of the only request that waits for its answer. */
const asked = Promise.withResolvers<void>();

/** A server that waits a minute for a request, and one that does not wait. */
const servers = { patient: serverOf(60_000), impatient: serverOf(1) };
const portOf = (name: keyof typeof servers) => (servers[name].address() as AddressInfo).port;

function serverOf(timeout: number) {
  const timeouts = { headersTimeout: timeout, requestTimeout: timeout, connectionsCheckingInterval: 20 };
  const server = createServer({ ...timeouts, maxHeaderSize: 16_384 }, (incoming, outgoing) => {
    if (incoming.url === "/waits") return asked.resolve();
    incoming.resume().on("end", () => outgoing.end("read"));
  });
  answerUnread(server, ORIGIN);
  return server;
}

beforeAll(async () => {
  for (const server of Object.values(servers))
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterAll(() => {
  for (const server of Object.values(servers)) server.closeAllConnections();
  for (const server of Object.values(servers)) server.close();
});

const HEAD = "POST / HTTP/1.1\r\nhost: a\r\n";
const PAYMENT = `payment-signature: ${"A".repeat(20_000)}\r\n`;
const EXTENSIONS = `transfer-encoding: chunked\r\n\r\n1;${"a".repeat(20_000)}\r\n`;

test.each<[string, string, number, string]>([
  ["headers that are too large", `${HEAD}origin: https://shop.example\r\n${PAYMENT}\r\n`, 431, "headers_too_large"],
  ["a text that is not HTTP", "hello\r\n\r\n", 400, "request_malformed"],
  ["an invalid Content-Length", `${HEAD}content-length: x\r\n\r\n`, 400, "request_malformed"],
  ["headers that do not end", HEAD, 408, "request_timeout"],
  ["a body that does not end", `${HEAD}content-length: 9\r\n\r\n1`, 408, "request_timeout"],
  ["a chunk's extensions that are too large", `${HEAD}${EXTENSIONS}`, 413, "body_too_large"],
])("a page of another origin can read the answer to %s", async (_, request, status, code) => {
  const socket = connect(portOf(code === "request_timeout" ? "impatient" : "patient"), "127.0.0.1");
  socket.write(request);
  const [head = "", body = ""] = (await text(socket)).split("\r\n\r\n");
  expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} [A-Z]`));
  expect(head).toContain("\r\naccess-control-allow-origin: *\r\n");
  expect(head).toContain("\r\ncontent-type: application/problem+json\r\n");
  expect(head).toMatch(new RegExp(`\r\ncontent-length: ${body.length}(\r\n|$)`));
  expect(JSON.parse(body)).toMatchObject({ status, code, type: `${ORIGIN}/problems/${code}` });
});

test("a malformed request after one that waits for its answer, which may be a payment, gets no answer", async () => {
  const socket = connect(portOf("patient"), "127.0.0.1");
  socket.write("POST /waits HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n\r\n");
  await asked.promise;
  socket.write("hello\r\n\r\n");
  expect(await text(socket).catch(() => "")).toBe("");
});
