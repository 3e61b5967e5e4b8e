import { once } from "node:events";
import {
  Agent,
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as open,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";

/** A complete request as the client sent it. */
export type ProxiedRequest = {
  method: string;
  /** Path and query. */
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** The method of a single JSON-RPC call. */
  rpc?: string;
};

/** A complete answer. */
export type ProxiedResponse = { status: number; headers: Record<string, string>; body: Buffer };

/** Whether the fault comes before or after the upstream has processed the request. */
export type Side = "before" | "after";

/** The client's result in place of the answer. */
export type Fault =
  /** No answer. */
  | { kind: "timeout"; side: Side }
  /** An error; status 503 unless given. */
  | { kind: "error"; side: Side; status?: number; body?: string }
  /** A reset of the connection. */
  | { kind: "reset"; side: Side }
  /** Half of the body, then the end of the connection. */
  | { kind: "truncated" }
  /** The whole answer, byte by byte. */
  | { kind: "trickle"; msPerByte?: number }
  /** Other data. */
  | { kind: "wrong"; change: (response: ProxiedResponse, request: ProxiedRequest) => ProxiedResponse }
  /** The oldest answer to a request of the same key, `like`, without a request to the upstream. */
  | { kind: "stale"; like?: (request: ProxiedRequest) => string }
  /** The second of two answers: the upstream gets the request twice. */
  | { kind: "duplicate" };

/** A request matches when every given member does. */
export type Match = {
  method?: string;
  /** Tested against path and query. */
  path?: RegExp;
  rpc?: string;
  /** A text that the body contains, or a test of the body. */
  body?: string | ((body: Buffer) => boolean);
};

export type Rule = {
  match: Match;
  /** The first and the last of the matching requests that it applies to, counted from 1; all unless given. */
  from?: number;
  to?: number;
  fault?: Fault;
  /** Runs before the request is forwarded, which waits for it. */
  onBefore?: (request: ProxiedRequest) => void | Promise<void>;
  /** Runs after the upstream's answer and before the client's. */
  onAfter?: (request: ProxiedRequest, response: ProxiedResponse) => void | Promise<void>;
  /** Runs once the client's whole answer was handed to its connection. */
  onSent?: () => void;
};

export interface FaultProxy {
  /** Origin, without a trailing slash; it does not change. */
  readonly url: string;
  /** Adds a rule. The oldest that matches a request is applied. @returns a function that removes the rule */
  add(rule: Rule): () => void;
  /** Removes every rule. */
  heal(): void;
  /** Closes all connections and refuses new ones until `up`. */
  down(): Promise<void>;
  up(): Promise<void>;
  /** Closes everything, waiting answers included. */
  close(): Promise<void>;
}

/** Headers that belong to one connection (RFC 9110, section 7.6.1), and the length, which is set anew. */
const CONNECTION_HEADERS = new Set(["connection", "keep-alive", "transfer-encoding", "content-length"]);
const MS_PER_BYTE = 1_000;

/**
 * A proxy for one upstream with deterministic faults: each rule counts the requests that match it. Without a rule everything
 * passes unchanged. A forwarded POST is completed even if the client closes its connection; a GET is aborted then.
 *
 * @param upstream origin
 */
export async function startFaultProxy(upstream: string): Promise<FaultProxy> {
  const agent = new Agent({ keepAlive: true });
  const rules = new Set<{ rule: Rule; seen: number }>();
  const oldest = new Map<string, ProxiedResponse>();
  const stop = new AbortController();
  const server = createServer({ keepAliveTimeout: 0 }, (incoming, outgoing) => {
    answer(incoming, outgoing).catch(() => outgoing.destroy());
  });
  const port = await listen(0);

  function listen(at: number): Promise<number> {
    return new Promise((resolve, reject) => {
      server.once("error", reject);
      server.listen(at, "127.0.0.1", () => {
        server.off("error", reject);
        resolve((server.address() as AddressInfo).port);
      });
    });
  }

  async function unlisten(): Promise<void> {
    if (!server.listening) return;
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
  }

  /** The rule for a request. Every matching rule counts the request, also those that are not applied. */
  function ruleFor(request: ProxiedRequest): Rule | undefined {
    const fitting = [...rules].filter(({ rule }) => fits(rule.match, request));
    for (const counted of fitting) counted.seen += 1;
    const active = ({ rule: { from = 1, to = Number.POSITIVE_INFINITY }, seen }: { rule: Rule; seen: number }) =>
      from <= seen && seen <= to;
    return fitting.find(active)?.rule;
  }

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const request = await read(incoming);
    const rule = ruleFor(request);
    const fault = rule?.fault;
    if (rule?.onSent) outgoing.once("finish", rule.onSent);
    await rule?.onBefore?.(request);
    if (fault && "side" in fault && fault.side === "before") return fail(fault, outgoing);
    if (fault?.kind === "stale") {
      const earlier = oldest.get((fault.like ?? requestKey)(request));
      if (earlier) return send(withIdOf(request, earlier), outgoing);
    }
    if (fault?.kind === "duplicate") await forward(request, outgoing);
    const response = await forward(request, outgoing);
    for (const like of [requestKey, ...staleKeys()])
      if (!oldest.has(like(request))) oldest.set(like(request), response);
    await rule?.onAfter?.(request, response);
    switch (fault?.kind) {
      case "timeout":
      case "error":
      case "reset":
        return fail(fault, outgoing);
      case "truncated":
        return truncate(response, outgoing);
      case "trickle":
        return trickle(response, fault.msPerByte ?? MS_PER_BYTE, outgoing);
      case "wrong":
        return send(fault.change(response, request), outgoing);
      default:
        return send(response, outgoing);
    }
  }

  function staleKeys() {
    return [...rules].flatMap(({ rule: { fault } }) => (fault?.kind === "stale" && fault.like ? [fault.like] : []));
  }

  function forward(request: ProxiedRequest, outgoing: ServerResponse): Promise<ProxiedResponse> {
    const { method, path, body } = request;
    const headers = {
      ...forwardedHeaders(request.headers),
      host: new URL(upstream).host,
      "content-length": body.length,
    };
    return new Promise((resolve, reject) => {
      // The upstream may be closing a kept connection, and a POST must not be lost with it.
      const connection = method === "GET" ? agent : false;
      const onward = open(upstream + path, { method, headers, agent: connection }, (response) => {
        buffer(response).then(
          (whole) =>
            resolve({ status: response.statusCode ?? 502, headers: forwardedHeaders(response.headers), body: whole }),
          reject,
        );
      });
      if (method === "GET") outgoing.once("close", () => onward.destroy());
      onward.once("error", reject);
      onward.end(body);
    });
  }

  async function trickle({ status, headers, body }: ProxiedResponse, ms: number, outgoing: ServerResponse) {
    outgoing.writeHead(status, { ...headers, "content-length": body.length });
    const gone = new AbortController();
    outgoing.once("close", () => gone.abort());
    const signal = AbortSignal.any([stop.signal, gone.signal]);
    for (const byte of body) {
      outgoing.write(Buffer.of(byte));
      await sleep(ms, undefined, { signal });
    }
    outgoing.end();
  }

  return {
    url: `http://127.0.0.1:${port}`,
    add(rule) {
      const counted = { rule, seen: 0 };
      rules.add(counted);
      return () => void rules.delete(counted);
    },
    heal: () => rules.clear(),
    down: unlisten,
    up: async () => void (await listen(port)),
    async close() {
      stop.abort();
      agent.destroy();
      await unlisten();
    },
  };
}

async function read(incoming: IncomingMessage): Promise<ProxiedRequest> {
  const body = await buffer(incoming);
  const rpc = rpcMethod(body);
  const { method = "GET", url: path = "/", headers } = incoming;
  return { method, path, headers, body, ...(rpc !== undefined && { rpc }) };
}

function rpcMethod(body: Buffer): string | undefined {
  if (body[0] !== "{".charCodeAt(0)) return undefined;
  try {
    const { jsonrpc, method } = JSON.parse(body.toString("utf8"));
    return jsonrpc === "2.0" && typeof method === "string" ? method : undefined;
  } catch {
    return undefined;
  }
}

function fits({ method, path, rpc, body }: Match, request: ProxiedRequest): boolean {
  return (
    (method === undefined || method === request.method) &&
    (path === undefined || path.test(request.path)) &&
    (rpc === undefined || rpc === request.rpc) &&
    (body === undefined || (typeof body === "string" ? request.body.includes(body) : body(request.body)))
  );
}

/** The same key for equal requests; for JSON-RPC, whatever their id. */
function requestKey({ method, path, body, rpc }: ProxiedRequest): string {
  const content =
    rpc === undefined ? body.toString("base64") : JSON.stringify(JSON.parse(body.toString("utf8")).params);
  return [method, path, rpc, content].join(" ");
}

/** An older answer with the id of this request, if it is JSON-RPC. */
function withIdOf({ rpc, body }: ProxiedRequest, response: ProxiedResponse): ProxiedResponse {
  if (rpc === undefined) return response;
  const { id } = JSON.parse(body.toString("utf8"));
  const older = { ...JSON.parse(response.body.toString("utf8")), id };
  return { ...response, body: Buffer.from(JSON.stringify(older)) };
}

function forwardedHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const kept = Object.entries(headers).filter(([name, value]) => value !== undefined && !CONNECTION_HEADERS.has(name));
  return Object.fromEntries(kept.map(([name, value]) => [name, String(value)]));
}

function send({ status, headers, body }: ProxiedResponse, outgoing: ServerResponse): void {
  outgoing.writeHead(status, { ...headers, "content-length": body.length }).end(body);
}

function fail(fault: Fault & { side: Side }, outgoing: ServerResponse): void {
  if (fault.kind === "error")
    outgoing.writeHead(fault.status ?? 503, { "content-type": "application/json" }).end(fault.body ?? "{}");
  if (fault.kind === "reset") outgoing.socket?.resetAndDestroy();
}

function truncate({ status, headers, body }: ProxiedResponse, outgoing: ServerResponse): void {
  outgoing.writeHead(status, { ...headers, "content-length": body.length });
  outgoing.write(body.subarray(0, Math.floor(body.length / 2)), () => outgoing.destroy());
}
