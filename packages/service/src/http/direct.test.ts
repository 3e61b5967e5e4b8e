import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Problem } from "../problems.ts";
import { json, problemAnswer } from "./answer.ts";
import { readBody } from "./body.ts";
import { directly } from "./direct.ts";
import type { EndpointRoute } from "./route.ts";

const routes: EndpointRoute[] = [
  {
    method: "POST",
    path: "/echo",
    maxBytes: 10,
    route: async (incoming) => json(200, Buffer.from(await readBody(incoming, 10)).toString()),
  },
  { method: "GET", path: "/same", maxBytes: 0, route: () => ({ status: 304, headers: { etag: '"a"' }, body: null }) },
  {
    method: "GET",
    path: "/broken",
    maxBytes: 0,
    route: () => {
      throw new Problem("not_found", "Broken.");
    },
  },
];

let limited = false;
const server = createServer(
  directly({
    routes,
    rateLimit: async () => {
      if (limited) throw new Problem("too_many_requests", "Enough.", { retryAfter: 3 });
    },
    failed: (error) => problemAnswer(error as Problem, "https://attestd.example"),
    otherwise: (incoming, outgoing) => {
      incoming.resume();
      outgoing.setHeader("connection", "close").end("otherwise");
    },
  }),
);
let port = 0;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** Everything that comes back until the server closes the connection. */
async function exchange(request: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.end(request.replaceAll("\n", "\r\n"));
  return text(socket);
}

const ask = (line: string, headers = "", body = "") =>
  exchange(`${line} HTTP/1.1\nhost: a\nconnection: close\n${headers}\n${body}`);

describe("a request that names a route and nothing beside it", () => {
  test("is answered at once, its body's length told in bytes", async () => {
    const answer = await ask("POST /echo", "content-length: 4\n", '"é"');
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(answer).toContain("content-length: 4\r\n");
    expect(answer.endsWith('\r\n\r\n"é"')).toBe(true);
  });

  test("may have no body, and its answer too", async () => {
    expect(await ask("POST /echo")).toContain("content-length: 0\r\n");
    const unchanged = await ask("GET /same");
    expect(unchanged).toMatch(/^HTTP\/1\.1 304 /);
    expect(unchanged).toContain('etag: "a"\r\n');
    expect(unchanged).not.toContain("content-length");
  });

  test("is told what the route throws", async () => {
    const answer = await ask("GET /broken");
    expect(answer).toMatch(/^HTTP\/1\.1 404 /);
    expect(answer).toContain("content-type: application/problem+json\r\n");
  });

  test("is counted by the limit", async () => {
    limited = true;
    const answer = await ask("POST /echo", "content-length: 2\n", "{}").finally(() => {
      limited = false;
    });
    expect(answer).toMatch(/^HTTP\/1\.1 429 /);
    expect(answer).toContain("retry-after: 3\r\n");
  });
});

test.each([
  ["a parameter", "POST /echo?chain=1", "content-length: 2\n", "{}"],
  ["another method", "PUT /echo", "content-length: 2\n", "{}"],
  ["HEAD", "HEAD /same", "", ""],
  ["another path", "GET /same/", "", ""],
  ["a body that is too long", "POST /echo", "content-length: 11\n", "01234567890"],
  ["a body of no told length", "POST /echo", "transfer-encoding: chunked\n", "2\n{}\n0\n\n"],
  ["a body where none belongs", "GET /same", "content-length: 2\n", "{}"],
])("%s is left for the app", async (_what, line, headers, body) => {
  const answer = await ask(line, headers, body);
  expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  if (!line.startsWith("HEAD")) expect(answer).toContain("otherwise");
});
