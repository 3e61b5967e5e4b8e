import type { JsonObject, JsonValue } from "@attestd/proof/json";
import { excerpt } from "@attestd/proof/text";
import {
  createMcpHandler,
  hostHeaderValidationResponse,
  localhostAllowedHostnames,
  originValidationResponse,
  ProtocolError,
  ProtocolErrorCode,
  Server,
} from "@modelcontextprotocol/server";
import { DESCRIPTION, NAME, VERSION } from "../../catalogue/about.ts";
import { invalid, notJson } from "../../catalogue/input.ts";
import type { Answer } from "../endpoints/answer.ts";
import { messageForm, offeredBy } from "../endpoints/arguments.ts";
import { receiveMessage } from "../endpoints/body.ts";
import { gzipAround, takesGzip } from "../endpoints/gzip.ts";
import { membersOf } from "../endpoints/messages.ts";
import type { Handler, TransportOptions } from "../endpoints/transport.ts";
import { callTool } from "./call.ts";
import { describeTool } from "./tools.ts";

export type HandlerOptions = Omit<TransportOptions, "recall"> & {
  /** The service's origins; loopback origins are always allowed. */
  origins: readonly string[];
};

/** The limit of a request's id, which the answer repeats, in characters. */
const MAX_ID = 128;

/**
 * MCP over streamable HTTP, without sessions. A fault in a message is a JSON-RPC error; a fault in a tool call is its
 * result. For a request that is not a message the handler throws Problem `media_type`, `body_too_large`,
 * `body_not_json` or `body_invalid`.
 */
export function createHandler(options: HandlerOptions): Handler {
  const hosts = [...localhostAllowedHostnames(), ...options.origins.map((origin) => new URL(origin).hostname)];
  const tools = offeredBy(options, ({ tool }) => tool?.name);
  const form = messageForm("mcp", tools);
  /** The bundles that were taken out of requests' messages. */
  const bundles = new WeakMap<Request, Uint8Array>();

  const listed = [...tools.values()].flatMap(({ endpoint }) => describeTool(endpoint) ?? []);
  const compressList = gzipAround(JSON.stringify(listed));

  const info = { name: NAME, title: NAME, version: VERSION };
  // Each request gets its own server. This is cheap, because the tools are made once.
  const handler = createMcpHandler(
    ({ requestInfo }) => {
      const server = new Server(info, {
        capabilities: { tools: {} },
        instructions: DESCRIPTION,
        cacheHints: { "tools/list": { ttlMs: 300_000, cacheScope: "public" } },
      });
      server.setRequestHandler("tools/list", () => ({ tools: listed }));
      server.setRequestHandler("tools/call", ({ params }, { mcpReq }) => {
        const tool = tools.get(params.name);
        if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${excerpt(params.name)}`);
        const call = {
          members: (params.arguments ?? {}) as JsonObject,
          bundle: requestInfo && bundles.get(requestInfo),
          payment: mcpReq._meta?.["x402/payment"] as JsonValue | undefined,
        };
        return callTool(params.name, tool, call, options);
      });
      return server;
    },
    { onerror: ({ message }) => options.log.debug({ reason: excerpt(message) }, "an MCP request was refused") },
  );

  return async (incoming) => {
    // The SDK needs a Fetch Request; the body is read below, within our limits.
    const headers = new Headers(incoming.headers as Record<string, string>);
    const request = new Request(`${options.origin}/mcp`, { method: "POST", headers });
    const refused = hostHeaderValidationResponse(request, hosts) ?? originValidationResponse(request, hosts);
    if (refused) return answerOf(refused);
    const received = await receiveMessage(incoming, form, options.readMessage);
    if ("notJson" in received) throw notJson(received.notJson, received.pointer);
    const { message, bundle } = received;
    if (bundle) bundles.set(request, bundle);
    // Revisions since 2025-06-18 have no batches, and the rate limit would count a batch as one request.
    if (Array.isArray(message)) throw invalid({ pointer: "", detail: "is a batch: send each message by itself" });
    const { id, method } = membersOf(message);
    if (typeof id === "string" && id.length > MAX_ID)
      throw invalid({ pointer: "/id", detail: `is longer than ${MAX_ID} characters` });
    const response = await handler.fetch(request, { parsedBody: message });
    const isGzipped = method === "tools/list" && takesGzip(headers.get("accept-encoding"));
    return answerOf(response, isGzipped ? compressList : undefined);
  };
}

/**
 * @param compress returns undefined for a text that is not the list of tools; without it, the SDK's streams stay
 *   streams
 */
async function answerOf(
  response: Response,
  compress?: (text: string) => Buffer<ArrayBuffer> | undefined,
): Promise<Answer> {
  const { status, body } = response;
  // The SDK always sends keep-alive, but connection management belongs to the two ends of a connection (RFC 9110,
  // section 7.6.1).
  const { connection: _, ...headers } = Object.fromEntries(response.headers);
  if (!compress && headers["content-type"]?.startsWith("text/event-stream")) return { status, headers, body };
  const text = await response.text();
  const bytes = compress?.(text);
  if (!bytes) return { status, headers, body: text };
  return { status, headers: { ...headers, "content-encoding": "gzip", vary: "accept-encoding" }, body: bytes };
}
