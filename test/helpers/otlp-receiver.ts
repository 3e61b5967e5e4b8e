import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import protobuf from "protobufjs";

/* A receiver of OTLP over HTTP. What it reads is decoded by protobufjs, by the field numbers of opentelemetry-proto 1.x. */

const { root } = protobuf.parse(`
  syntax = "proto3";
  message Request { repeated ResourceSpans resource_spans = 1; }
  message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
  message Resource { repeated KeyValue attributes = 1; }
  message ScopeSpans { Scope scope = 1; repeated Span spans = 2; }
  message Scope { string name = 1; string version = 2; }
  message Span {
    bytes trace_id = 1; bytes span_id = 2; string trace_state = 3; bytes parent_span_id = 4; string name = 5;
    int32 kind = 6; fixed64 start_time_unix_nano = 7; fixed64 end_time_unix_nano = 8;
    repeated KeyValue attributes = 9; repeated Event events = 11; Status status = 15; fixed32 flags = 16;
  }
  message Event { fixed64 time_unix_nano = 1; string name = 2; repeated KeyValue attributes = 3; }
  message Status { string message = 2; int32 code = 3; }
  message KeyValue { string key = 1; AnyValue value = 2; }
  message AnyValue { oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4; } }
`);
const Request = root.lookupType("Request");

type Attribute = { key: string; value: Record<string, unknown> };
type Wire = {
  resourceSpans: {
    resource: { attributes: Attribute[] };
    scopeSpans: {
      spans: {
        traceId: string;
        spanId: string;
        parentSpanId: string;
        name: string;
        kind: number;
        startTimeUnixNano: string;
        endTimeUnixNano: string;
        attributes: Attribute[];
        status?: { code: number; message: string };
      }[];
    }[];
  }[];
};

export type ReceivedSpan = {
  traceId: string;
  spanId: string;
  /** "" of a root. */
  parentSpanId: string;
  name: string;
  /** 1: internal, 2: server. */
  kind: number;
  /** Nanoseconds. */
  start: bigint;
  end: bigint;
  attributes: Record<string, unknown>;
  resource: Record<string, unknown>;
  /** 2: error. */
  status: number;
};

const hex = (base64: string) => Buffer.from(base64, "base64").toString("hex");
const valuesOf = (attributes: Attribute[]) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

function spansOf(body: Buffer): ReceivedSpan[] {
  const options = { longs: String, bytes: String, arrays: true, defaults: true, oneofs: false };
  const { resourceSpans } = Request.toObject(Request.decode(body), { ...options, defaults: true }) as Wire;
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        traceId: hex(span.traceId),
        spanId: hex(span.spanId),
        parentSpanId: hex(span.parentSpanId),
        name: span.name,
        kind: span.kind,
        start: BigInt(span.startTimeUnixNano),
        end: BigInt(span.endTimeUnixNano),
        attributes: valuesOf(span.attributes),
        resource: valuesOf(resource.attributes),
        status: span.status?.code ?? 0,
      })),
    ),
  );
}

/** @param answer of a hostile receiver, instead of an empty one */
export async function startOtlpReceiver(answer?: (incoming: IncomingMessage, outgoing: ServerResponse) => void) {
  const spans: ReceivedSpan[] = [];
  const requests: { url: string | undefined; headers: IncomingHttpHeaders; body: Buffer }[] = [];
  const server = createServer(async (incoming, outgoing) => {
    const body = await buffer(incoming).catch(() => undefined);
    if (!body) return;
    requests.push({ url: incoming.url, headers: incoming.headers, body });
    spans.push(...spansOf(body));
    if (answer) answer(incoming, outgoing);
    else outgoing.writeHead(200, { "content-type": "application/x-protobuf" }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await server[Symbol.asyncDispose]();
    },
  };
}
