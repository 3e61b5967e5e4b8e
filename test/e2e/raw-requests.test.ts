import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Deployment, startDeployment } from "./deployment.ts";

/* Requests that no HTTP client sends, byte by byte: none is answered with 500, leaves its connection open or stops the
   service, and a page may read every answer that a browser can provoke. */

let deployment: Deployment;
beforeAll(async () => {
  deployment = await startDeployment();
});
afterAll(() => deployment.close());

const open = (): Socket => connect(Number(new URL(deployment.url).port), "127.0.0.1");

/** Sends bytes, one for each character. @returns everything that comes back until the service closes the connection */
function exchange(request: string): Promise<string> {
  const socket = open();
  socket.write(request, "latin1");
  return text(socket);
}

const END = "connection: close\r\n\r\n";
const get = (target: string, headers = "host: a\r\n") => `GET ${target} HTTP/1.1\r\n${headers}${END}`;
const post = (path: string, headers: string, body = "{}") =>
  `POST ${path} HTTP/1.1\r\ncontent-type: application/json\r\n${headers}${END}${body}`;
const attest = (headers: string, body?: string) => post("/attest", `host: a\r\n${headers}`, body);
const mcp = (headers: string) => post("/mcp", `${ACCEPT}content-length: 46\r\n${headers}`, LIST);
const ACCEPT = "accept: application/json, text/event-stream\r\n";
const LIST = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';
const LONG = "a".repeat(8_000);
const CHUNKED = "transfer-encoding: chunked\r\n";

test.each<[what: string, request: string, ...statuses: number[]]>([
  ["an absolute target", get("http://b/health"), 200],
  ["an absolute target that is no URL", get("http://["), 404],
  ["an authority as target", get("example.com:80"), 400],
  ["a target of a scheme without slashes", get("javascript:alert(1)"), 400],
  ["OPTIONS *", `OPTIONS * HTTP/1.1\r\nhost: a\r\n${END}`, 404],
  ["GET *", get("*"), 404],
  ["an empty target", get(""), 400],
  ["a target that is only a query", get("?a"), 400],
  ["two slashes", get("//health"), 404],
  ["two slashes and what is no host", get("//["), 404],
  ["an encoded slash", get("/bundles/a%2Fb"), 404],
  ["an encoded slash in place of one", get("/bundles%2Fa"), 404],
  ["an encoded NUL", get("/problems/%00"), 404],
  ["a broken escape", get("/problems/%zz"), 404],
  ["a backslash", get("\\health"), 400],
  ["NUL", get("/hea\0lth"), 400],
  ["bytes above ASCII", get("/\xff\xfe"), 400],
  ["a name of every object's", get("/__proto__"), 404],
  ["a path of 8 KB", get(`/${LONG}`), 404],
  ["a query of 8 KB", post(`/verify?chain=${LONG}`, "host: a\r\ncontent-length: 2\r\n"), 400],
  ["4,000 parameters", post(`/verify?${"a&".repeat(4_000)}`, "host: a\r\ncontent-length: 2\r\n"), 400],
  ["a parameter __proto__", post("/verify?__proto__=1", "host: a\r\ncontent-length: 2\r\n"), 400],

  ["two lengths", attest("content-length: 2\r\ncontent-length: 3\r\n"), 400],
  ["a length twice", attest("content-length: 2\r\ncontent-length: 2\r\n"), 400],
  ["a length and chunks", attest(`content-length: 2\r\n${CHUNKED}`), 400],
  ["chunks and a length", attest(`${CHUNKED}content-length: 2\r\n`), 400],
  ["chunked twice", attest(`${CHUNKED}${CHUNKED}`), 400],
  ["a coding that is not chunked", attest("transfer-encoding: gzip\r\n"), 400],
  ["a negative length", attest("content-length: -1\r\n"), 400],
  ["a length with a sign", attest("content-length: +2\r\n"), 400],
  ["a length beyond all numbers", attest(`content-length: ${"9".repeat(40)}\r\n`), 400],
  ["a length beyond the limit", attest("content-length: 9999999999\r\n"), 413],
  ["a folded header", get("/health", "host: a\r\nx: b\r\n c\r\n"), 400],
  ["a header without a name", get("/health", "host: a\r\n: b\r\n"), 400],
  ["a space before the colon", get("/health", "host: a\r\nx : b\r\n"), 400],
  ["two thousand headers", get("/health", `host: a\r\n${"a: b\r\n".repeat(4_000)}`), 431],
  ["two hosts", get("/health", "host: a\r\nhost: b\r\n"), 200],
  ["HTTP/1.0 without a host", "GET /health HTTP/1.0\r\n\r\n", 200],
  ["another method", `TRACE /health HTTP/1.1\r\nhost: a\r\n${END}`, 405],
  ["a method of lower case", `get /health HTTP/1.1\r\nhost: a\r\n${END}`, 400],
  ["the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400],
  ["HTTP/3", "GET /health HTTP/3.0\r\n\r\n", 400],
  ["a TLS handshake", "\x16\x03\x01\x00\xa5\x01\x00\x00", 400],
  ["lines that end in LF alone", "GET /health HTTP/1.1\nhost: a\n\n", 400],
  ["a body where none belongs", get("/health", "host: a\r\ncontent-length: 2\r\n").concat("{}"), 200],

  ["chunks with a trailer", attest(CHUNKED, "2\r\n{}\r\n0\r\npayment-signature: e30=\r\n\r\n"), 400],
  ["a chunk of no length", attest(CHUNKED, "zz\r\n{}\r\n0\r\n\r\n"), 400],
  ["a chunk of a length beyond all numbers", attest(CHUNKED, `${"f".repeat(17)}\r\n{}`), 400],
  ["chunks beyond the limit", attest(CHUNKED, `11170\r\n${"x".repeat(70_000)}\r\n0\r\n\r\n`), 413],
  ["nesting of 60 KB", attest("content-length: 60000\r\n", "[".repeat(60_000)), 400],
  ["Expect: 100-continue", attest("expect: 100-continue\r\ncontent-length: 2\r\n"), 100, 400],
  ["Expect: 100-continue, and too much", attest("expect: 100-continue\r\ncontent-length: 99999\r\n", ""), 100, 413],
  ["Upgrade", get("/health", "host: a\r\nupgrade: websocket\r\n"), 200],
  ["h2c", get("/health", "host: a\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABk\r\n"), 200],
  [
    "pipelined requests",
    `GET /health HTTP/1.1\r\nhost: a\r\n\r\nPOST /attest HTTP/1.1\r\nhost: a\r\n\r\n${get("/health")}`,
    200,
    402,
    200,
  ],

  ["a payment of bytes above ASCII", attest("payment-signature: \xff\r\ncontent-length: 2\r\n"), 400],
  ["two payments", attest("payment-signature: e30=\r\npayment-signature: e30=\r\ncontent-length: 2\r\n"), 400],
  ["an empty payment", attest("payment-signature:\r\ncontent-length: 2\r\n"), 400],
  ["two media types", attest("content-type: text/plain\r\ncontent-length: 2\r\n"), 400],
  [
    "odd tags and codings",
    get("/openapi.json", "host: a\r\nif-none-match: \xff,,\r\naccept-encoding: ;;q=,gzip;q=x\r\n"),
    200,
  ],
  ["a media type of bytes above ASCII", get("/health", "host: a\r\ncontent-type: \xff\r\n"), 200],
  [
    "an A2A extension of bytes above ASCII",
    post("/a2a", "host: a\r\nx-a2a-extensions: \xff\r\ncontent-length: 2\r\n"),
    200,
  ],
  [
    "MCP without a host",
    `POST /mcp HTTP/1.0\r\ncontent-type: application/json\r\ncontent-length: 46\r\n\r\n${LIST}`,
    403,
  ],
  ["MCP with an empty host", mcp("host:\r\n"), 403],
  ["MCP with a host that is none", mcp("host: [\r\n"), 403],
  ["MCP with a host of bytes above ASCII", mcp("host: \xff\r\n"), 403],
  ["MCP with an origin that is none", mcp("host: 127.0.0.1\r\norigin: http://[\r\n"), 403],
  ["MCP with header values above ASCII", mcp("host: 127.0.0.1\r\nx: \xff\x80\tb\r\naccept-language: \xe9\r\n"), 200],
  ["MCP with names of every object's", mcp("host: 127.0.0.1\r\n__proto__: a\r\nconstructor: b\r\n"), 200],
  ["MCP with cookies to set", mcp("host: 127.0.0.1\r\nset-cookie: a\r\nset-cookie: b\r\n"), 200],
  ["MCP with headers of connections", mcp("host: 127.0.0.1\r\nte: trailers\r\nkeep-alive: 1\r\nupgrade: a\r\n"), 200],
  ["MCP with a control character", mcp("host: 127.0.0.1\r\nx: a\x01b\r\n"), 400],
])("%s is answered, for pages too", async (_what, request, ...statuses) => {
  const answers = await exchange(request);
  expect([...answers.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status))).toEqual(statuses);
  // Every request asked for it.
  if (/^connection: close\r$/im.test(request)) expect(answers).toMatch(/^connection: close\r$/im);
  const final = statuses.filter((status) => status >= 200);
  expect(answers.match(/^access-control-allow-origin: \*\r$/gm)).toHaveLength(final.length);
});

// A browser always sends a host, and cannot send CONNECT or Expect.
test.each<[what: string, request: string, answer: string]>([
  ["no host", get("/health", ""), "HTTP/1.1 400 "],
  ["an expectation that nobody meets", get("/health", "host: a\r\nexpect: b\r\n"), "HTTP/1.1 417 "],
  ["CONNECT", "CONNECT example.com:80 HTTP/1.1\r\nhost: a\r\n\r\n", ""],
])("%s is refused by Node", async (_what, request, answer) => {
  expect((await exchange(request)).slice(0, 13)).toBe(answer);
});

test.each(["/attest", "/verify", "/mcp", "/a2a"])(
  "a client may hang up at any byte of a request of %s",
  async (path) => {
    const request = post(path, "host: 127.0.0.1\r\ncontent-length: 46\r\n", LIST);
    for (let length = 1; length <= request.length; length += 7) {
      const socket = open();
      const closed = new Promise((resolve) => socket.once("close", resolve));
      socket.write(request.slice(0, length), "latin1", () => socket.destroy());
      await closed;
    }
    expect(await exchange(get("/health"))).toMatch(/^HTTP\/1\.1 200 /);
  },
);

test("a connection that the client half-closes before its answer is closed", async () => {
  for (const path of ["/attest", "/verify", "/mcp", "/a2a"]) {
    const socket = open();
    socket.end(post(path, "host: 127.0.0.1\r\ncontent-length: 46\r\n", LIST), "latin1");
    expect(await text(socket)).toMatch(/^$|^HTTP\/1\.1 [24]/);
  }
});
