import { excerpt } from "@attestd/proof/excerpt";
import type { JsonObject, JsonValue } from "@attestd/proof/json";
import {
  type CallToolResult,
  createMcpHandler,
  hostHeaderValidationResponse,
  localhostAllowedHostnames,
  originValidationResponse,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type Tool,
} from "@modelcontextprotocol/server";
import { DESCRIPTION, NAME, VERSION } from "../catalogue/about.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import { invalid, notJson } from "../catalogue/input.ts";
import { messageForm } from "../endpoints/arguments.ts";
import { gzipAround, takesGzip } from "../endpoints/gzip.ts";
import { membersOf, type ReadMessage } from "../endpoints/messages.ts";
import type { Operations } from "../endpoints/operations.ts";
import { receive } from "../endpoints/transport.ts";
import { type CallOptions, callTool, type ToolCall } from "./call.ts";
import { describeTool } from "./tools.ts";

export type EndpointOptions = CallOptions & {
  catalogue: Catalogue;
  operations: Operations;
  readMessage: ReadMessage;
  /** Origins under which the service is reached, beside loopback ones. */
  origins: readonly string[];
};

const SERVER_INFO = { name: NAME, title: NAME, version: VERSION };

/** An id is echoed. */
const LONGEST_ID = 128;
/** The tools are the same until the service is started anew. */
const TOOLS_CACHE = { ttlMs: 300_000, cacheScope: "public" } as const;

/**
 * An MCP endpoint over streamable HTTP, without sessions.
 *
 * @throws Problem where a request is not even a message: `media_type`, `body_too_large`, `body_not_json`, `body_invalid`.
 * What is wrong with the message is answered in JSON-RPC, what is wrong with a tool's call is the result of the call.
 */
export function createEndpoint(options: EndpointOptions): (request: Request) => Promise<Response> {
  const hosts = [...localhostAllowedHostnames(), ...options.origins.map((origin) => new URL(origin).hostname)];
  const tools = offer(options);
  const form = messageForm("mcp", options, ({ tool }) => tool?.name);
  /** Taken out of the message that a request has brought. */
  const bundles = new WeakMap<Request, Uint8Array>();

  const listed = [...tools.values()].map(({ description }) => description);
  const compressList = gzipAround(JSON.stringify(listed));

  // A request has a server of its own, which costs little: all that it knows is made once, above.
  const handler = createMcpHandler(
    ({ requestInfo }) => {
      const server = new Server(SERVER_INFO, {
        capabilities: { tools: {} },
        instructions: DESCRIPTION,
        cacheHints: { "tools/list": TOOLS_CACHE },
      });
      server.setRequestHandler("tools/list", () => ({ tools: listed }));
      server.setRequestHandler("tools/call", ({ params }, { mcpReq }) => {
        const tool = tools.get(params.name);
        if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${excerpt(params.name)}`);
        return tool.call({
          members: (params.arguments ?? {}) as JsonObject,
          bundle: requestInfo && bundles.get(requestInfo),
          payment: mcpReq._meta?.["x402/payment"] as JsonValue | undefined,
        });
      });
      return server;
    },
    { onerror: ({ message }) => options.log.debug({ reason: excerpt(message) }, "an MCP request was refused") },
  );

  return async (request) => {
    const refused = hostHeaderValidationResponse(request, hosts) ?? originValidationResponse(request, hosts);
    if (refused) return refused;
    const received = await receive(request, form, options.readMessage);
    if ("notJson" in received) throw notJson(received.notJson, received.pointer);
    const { message, bundle } = received;
    if (bundle) bundles.set(request, bundle);
    // Revisions since 2025-06-18 have none, and one would pass the rate limit as a single request.
    if (Array.isArray(message)) throw invalid([{ pointer: "", detail: "is a batch: send each message by itself" }]);
    const { id, method } = membersOf(message);
    if (typeof id === "string" && id.length > LONGEST_ID)
      throw invalid([{ pointer: "/id", detail: `is longer than ${LONGEST_ID} characters` }]);
    const response = await handler.fetch(request, { parsedBody: message });
    if (method !== "tools/list" || !takesGzip(request.headers.get("accept-encoding"))) return response;
    return compressed(response, compressList);
  };
}

/** @param compress undefined of a text that is no list of tools */
async function compressed(
  { status, headers, body }: Response,
  compress: (text: string) => Buffer<ArrayBuffer> | undefined,
): Promise<Response> {
  const text = await new Response(body).text();
  const bytes = compress(text);
  if (!bytes) return new Response(text, { status, headers });
  const all = new Headers(headers);
  all.delete("content-length");
  all.set("content-encoding", "gzip");
  all.append("vary", "accept-encoding");
  return new Response(bytes, { status, headers: all });
}

type OfferedTool = { description: Tool; call(call: ToolCall): Promise<CallToolResult> };

/** The catalogue's tools by name. */
function offer({ catalogue, operations, ...options }: EndpointOptions): Map<string, OfferedTool> {
  const tools = new Map<string, OfferedTool>();
  for (const [id, endpoint] of Object.entries(catalogue)) {
    const operation = operations[id];
    if (!endpoint.tool || !operation) continue;
    const { name } = endpoint.tool;
    tools.set(name, {
      description: describeTool(endpoint, endpoint.tool),
      call: (call) => callTool(name, endpoint, operation, call, options),
    });
  }
  return tools;
}
