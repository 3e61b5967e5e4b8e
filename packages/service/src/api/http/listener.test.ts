import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { buffer, text } from "node:stream/consumers";
import pino from "pino";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { Problem } from "../../lib/problems.ts";
import { json } from "../endpoints/answer.ts";
import { readBody } from "../endpoints/body.ts";
import type { Route } from "../endpoints/transport.ts";
import { createListener } from "./listener.ts";

const log = pino({ level: "silent" });
const logged = vi.spyOn(log, "error");
/** The body of the request that is never completed. */
const unfinished = Promise.withResolvers<{ body: Promise<Uint8Array> }>();

const routes: Route[] = [
  {
    method: "POST",
    path: "/echo",
    handle: async (incoming) => json(200, Buffer.from(await readBody(incoming, 10)).toString()),
  },
  { method: "GET", path: "/same", handle: () => ({ status: 304, headers: { etag: '"a"' }, body: null }) },
  {
    method: "GET",
    path: "/named/:name",
    handle: (_, { params, query }) => json(200, JSON.stringify([params, query])),
  },
  {
    method: "POST",
    path: "/unfinished",
    handle: async (incoming) => {
      const body = readBody(incoming, 10);
      unfinished.resolve({ body });
      return json(200, String(await body));
    },
  },
  {
    method: "GET",
    path: "/broken",
    handle: () => {
      throw new Problem("not_found", "Broken.");
    },
  },
];

/** Several pieces, all different. */
const LONG = Buffer.from(Array.from({ length: 500_000 }, (_, n) => n % 251));
routes.push({
  method: "GET",
  path: "/long",
  handle: async () => ({ status: 200, headers: {}, body: new Uint8Array(LONG) }),
});

/** Settles when the client of the request has disconnected. */
const hungUp = Promise.withResolvers<void>();
routes.push({
  method: "GET",
  path: "/late",
  async handle({ socket }) {
    if (!socket.closed) await once(socket, "close");
    hungUp.resolve();
    return { status: 200, headers: {}, body: new Uint8Array(40 * 1024 * 1024) };
  },
});

/** Requests that wait for their answers, in the order in which they began. */
const begun: { end: () => void }[] = [];
routes.push({
  method: "GET",
  path: "/turn",
  async handle() {
    const { promise, resolve } = Promise.withResolvers<void>();
    begun.push({ end: resolve });
    await promise;
    return json(200, String(begun.length));
  },
});

let limited = false;
const server = createServer(
  createListener({
    routes,
    rateLimit: () => {
      const headers = { ratelimit: '"all";r=0;t=3' };
      return limited
        ? { headers, refusal: new Problem("too_many_requests", "Enough.", { retryAfter: 3 }) }
        : { headers };
    },
    origin: "https://attestd.example",
    log,
    trustProxy: true,
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

/** Returns everything that the server sends until it closes the connection. */
async function exchange(request: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.end(request.replaceAll("\n", "\r\n"));
  return text(socket);
}

/** A request that is answered with 404. */
const LAST = "GET /last HTTP/1.1\nhost: a\nconnection: close\n\n";

const ask = (line: string, headers = "", body = "") =>
  exchange(`${line} HTTP/1.1\nhost: a\nconnection: close\n${headers}\n${body}`);

describe("a request", () => {
  test("is answered at once, with the body's length in bytes", async () => {
    const answer = await ask("POST /echo", "content-length: 4\n", '"é"');
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(answer).toContain("content-length: 4\r\n");
    expect(answer.endsWith('\r\n\r\n"é"')).toBe(true);
  });

  test("and its answer may have no body", async () => {
    expect(await ask("POST /echo")).toContain("content-length: 0\r\n");
    const unchanged = await ask("GET /same");
    expect(unchanged).toMatch(/^HTTP\/1\.1 304 /);
    expect(unchanged).toContain('etag: "a"\r\n');
    expect(unchanged).not.toContain("content-length");
  });

  test("is answered with the problem that the route throws", async () => {
    const answer = await ask("GET /broken");
    expect(answer).toMatch(/^HTTP\/1\.1 404 /);
    expect(answer).toContain("content-type: application/problem+json\r\n");
  });

  test("counts against the rate limit", async () => {
    limited = true;
    const answer = await ask("POST /echo", "content-length: 2\n", "{}").finally(() => {
      limited = false;
    });
    expect(answer).toMatch(/^HTTP\/1\.1 429 /);
    expect(answer).toContain("retry-after: 3\r\n");
  });
});

test.each([
  ["a parameter", "POST /echo?chain=1", "content-length: 2\n", "{}", 200],
  ["another method", "PUT /echo", "content-length: 2\n", "{}", 405, "allow: POST"],
  ["HEAD", "HEAD /same", "", "", 304],
  ["another path", "GET /same/", "", "", 404],
  ["a body that is too long", "POST /echo", "content-length: 11\n", "01234567890", 413, "connection: close"],
  [
    "a body without Content-Length",
    "POST /echo",
    "transfer-encoding: chunked\n",
    "2\n{}\n0\n\n",
    200,
    "content-length: 2",
  ],
  ["a body of a GET", "GET /same", "content-length: 2\n", "{}", 304],
  ["OPTIONS", "OPTIONS /same", "", "", 204, "allow: GET, HEAD"],
  ["an absolute target", "GET http://attestd.example/same", "", "", 304],
  ["a percent-encoded path", "GET /%73ame?a", "", "", 304],
  ["a backslash", "GET /named\\a", "", "", 404],
  ["no path", "OPTIONS *", "", "", 404],
])("%s is answered in the same way", async (_what, line, headers, body, status, header = "") => {
  const answer = await ask(line, headers, body);
  expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(answer).toContain("access-control-allow-origin: *\r\n");
  expect(answer).toContain(header);
});

test("long answers to requests that come one behind the other are sent whole, in their order", async () => {
  const socket = connect(port, "127.0.0.1");
  const long = "GET /long HTTP/1.1\r\nhost: a\r\n";
  socket.end(`${long}\r\n${long}\r\n${LAST.replaceAll("\n", "\r\n")}`);
  const answers = (await buffer(socket)).toString("latin1").split("HTTP/1.1 ");
  const bodies = answers.map((answer) => answer.slice(answer.indexOf("\r\n\r\n") + 4));
  expect(answers.map((answer) => answer.slice(0, 3))).toEqual(["", "200", "200", "404"]);
  for (const body of bodies.slice(1, 3)) expect(Buffer.from(body, "latin1").equals(LONG)).toBe(true);
});

test("an answer that is ready after its client has hung up holds no place of that client's", async () => {
  const socket = connect(port, "127.0.0.1");
  socket.write("GET /late HTTP/1.1\r\nhost: a\r\nx-forwarded-for: 192.0.2.1\r\n\r\n");
  await once(server, "request");
  socket.destroy();
  await hungUp.promise;
  expect(await ask("GET /long", "x-forwarded-for: 192.0.2.1\n")).toMatch(/^HTTP\/1\.1 200 /);
});

describe("requests that are sent behind one another", () => {
  const TURN = "GET /turn HTTP/1.1\r\nhost: a\r\n\r\n";

  /** Sends `count` requests at once. @returns the connection, once the server has read them all, and its answers */
  async function sendAtOnce(count: number) {
    begun.length = 0;
    const { promise, resolve } = Promise.withResolvers<void>();
    let read = 0;
    const onRequest = () => void (++read === count && resolve());
    server.on("request", onRequest);
    const socket = connect(port, "127.0.0.1");
    const answers = text(socket);
    socket.write(TURN.repeat(count));
    await promise;
    server.off("request", onRequest);
    return { socket, answers };
  }

  test("are begun one by one, each when the answer before it has been sent", async () => {
    const { socket, answers } = await sendAtOnce(5);
    for (let n = 0; n < 5; n++) {
      while (begun.length === n) await new Promise((resolve) => setImmediate(resolve));
      expect(begun.length).toBe(n + 1);
      begun[n]?.end();
    }
    socket.end();
    expect((await answers).match(/\r\n\r\n\d/g)).toEqual([1, 2, 3, 4, 5].map((n) => `\r\n\r\n${n}`));
  });

  test("are too many beyond a bound: the connection is closed, and none but the first was begun", async () => {
    const { answers } = await sendAtOnce(300);
    expect(await answers.catch(() => "")).toBe("");
    expect(begun.length).toBe(1);
    begun[0]?.end();
  });
});

test("parameters are decoded, and the first of two values counts", async () => {
  expect(await ask("GET /named/%2F%zz")).toContain('[{"name":"%2F%zz"},{}]');
  expect(await ask("GET /named/%2Fb%c3%a9?a=1&a=2&b=+%2B")).toContain('[{"name":"/bé"},{"b":" +","a":"1"}]');
});

test("a connection is kept after a small unread body, and closed after a large one", async () => {
  const keep = (line: string, length: number) =>
    exchange(`${line} HTTP/1.1\nhost: a\ncontent-length: ${length}\n\n${"x".repeat(length)}${LAST}`);
  expect(await keep("POST /nowhere", 60_000)).toMatch(/^HTTP\/1\.1 404 [\s\S]*HTTP\/1\.1 404 /);
  const closed = await keep("POST /nowhere", 70_000);
  expect(closed).toMatch(/^HTTP\/1\.1 404 /);
  expect(closed.toLowerCase()).toContain("connection: close");
  expect(closed.split("HTTP/1.1 404").length).toBe(2);
});

test("a client that hangs up within its body causes no error of the service", async () => {
  const socket = connect(port, "127.0.0.1");
  socket.write("POST /unfinished HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\n\r\n{");
  const { body } = await unfinished.promise;
  socket.destroy();
  await expect(body).rejects.toThrow("aborted");
  expect(await ask("GET /same")).toMatch(/^HTTP\/1\.1 304 /);
  expect(logged).not.toHaveBeenCalled();
});
