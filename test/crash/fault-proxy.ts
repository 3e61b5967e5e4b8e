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

/** One request, whole, as the client sent it. */
export type ProxiedRequest = {
  method: string;
  /** Path and query. */
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** The method of a single JSON-RPC call. */
  rpc?: string;
};

/** One answer, whole. */
export type ProxiedResponse = { status: number; headers: Record<string, string>; body: Buffer };

/** Whether the upstream has got the request when the fault comes: if it had an effect, that has happened `after`. */
export type Side = "before" | "after";

/** What the client gets instead of the answer. */
export type Fault =
  /** Nothing, for as long as it waits. */
  | { kind: "timeout"; side: Side }
  /** Another answer: 503 unless given. */
  | { kind: "error"; side: Side; status?: number; body?: string }
  /** A connection that is reset. */
  | { kind: "reset"; side: Side }
  /** Half of the body, and the end of the connection. */
  | { kind: "truncated" }
  /** All of it, byte by byte. */
  | { kind: "trickle"; msPerByte?: number }
  /** Other data. */
  | { kind: "wrong"; change: (response: ProxiedResponse, request: ProxiedRequest) => ProxiedResponse }
  /** The oldest answer that the proxy has seen to a like request, without the upstream being asked. */
  | { kind: "stale"; like?: (request: ProxiedRequest) => string }
  /** The answer to the second of two requests: the upstream gets it twice. */
  | { kind: "duplicate" };

/** Every member that is given must fit. */
export type Match = {
  method?: string;
  /** Of path and query. */
  path?: RegExp;
  rpc?: string;
  /** A text within the body, or whether a body fits. */
  body?: string | ((body: Buffer) => boolean);
};

export type Rule = {
  match: Match;
  /** The first and last of the matching requests that it is for, counted from 1; every one where not given. */
  from?: number;
  to?: number;
  fault?: Fault;
  /** Runs before the request is forwarded, which waits for it. */
  onBefore?: (request: ProxiedRequest) => void | Promise<void>;
  /** Runs when the upstream has answered and the client has not heard of it yet. */
  onAfter?: (request: ProxiedRequest, response: ProxiedResponse) => void | Promise<void>;
};

export interface FaultProxy {
  /** Origin, without a trailing slash; the same for as long as it lives. */
  readonly url: string;
  /** Adds a rule: of those that match a request the oldest is applied. @returns takes it out again */
  add(rule: Rule): () => void;
  /** Takes every rule out. */
  heal(): void;
  /** Refuses connections, and ends those that stand, until `up`. */
  down(): Promise<void>;
  up(): Promise<void>;
  /** Ends everything, also what is held back. */
  close(): Promise<void>;
}

/** Headers that belong to one connection (RFC 9110, section 7.6.1), and the length, which is set anew. */
const OWN = new Set(["connection", "keep-alive", "transfer-encoding", "content-length"]);
const MS_PER_BYTE = 1_000;

/**
 * Stands before one upstream and breaks what it is told to, deterministically: each rule counts the requests that match
 * it. Without a rule everything passes unchanged.
 *
 * An effect does not depend on who waits for it: a POST that was forwarded is carried through also when the client has
 * gone, a GET is given up with it.
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

  /** The rule for a request. Every rule that matches counts it, whichever is applied. */
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
    await rule?.onBefore?.(request);
    if (fault && "side" in fault && fault.side === "before") return fail(fault, outgoing);
    if (fault?.kind === "stale") {
      const earlier = oldest.get((fault.like ?? likeness)(request));
      if (earlier) return send(answering(request, earlier), outgoing);
    }
    if (fault?.kind === "duplicate") await forward(request, outgoing);
    const response = await forward(request, outgoing);
    for (const like of [likeness, ...likenesses()]) if (!oldest.has(like(request))) oldest.set(like(request), response);
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

  function likenesses() {
    return [...rules].flatMap(({ rule: { fault } }) => (fault?.kind === "stale" && fault.like ? [fault.like] : []));
  }

  function forward(request: ProxiedRequest, outgoing: ServerResponse): Promise<ProxiedResponse> {
    const { method, path, body } = request;
    const headers = { ...passing(request.headers), host: new URL(upstream).host, "content-length": body.length };
    return new Promise((resolve, reject) => {
      // A kept connection may just be closed from the other side: what is posted must not be lost with it.
      const connection = method === "GET" ? agent : false;
      const onward = open(upstream + path, { method, headers, agent: connection }, (response) => {
        buffer(response).then(
          (whole) => resolve({ status: response.statusCode ?? 502, headers: passing(response.headers), body: whole }),
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

/** Requests that ask the same thing: for JSON-RPC, whatever id they have. */
function likeness({ method, path, body, rpc }: ProxiedRequest): string {
  const asked = rpc === undefined ? body.toString("base64") : JSON.stringify(JSON.parse(body.toString("utf8")).params);
  return [method, path, rpc, asked].join(" ");
}

/** An older answer as one to this request: JSON-RPC's carry the id of theirs. */
function answering({ rpc, body }: ProxiedRequest, response: ProxiedResponse): ProxiedResponse {
  if (rpc === undefined) return response;
  const { id } = JSON.parse(body.toString("utf8"));
  const older = { ...JSON.parse(response.body.toString("utf8")), id };
  return { ...response, body: Buffer.from(JSON.stringify(older)) };
}

function passing(headers: IncomingHttpHeaders): Record<string, string> {
  const kept = Object.entries(headers).filter(([name, value]) => value !== undefined && !OWN.has(name));
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
