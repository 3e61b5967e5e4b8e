import { isLoopback } from "@attestd/proof/text";
import {
  type Attributes as OtelAttributes,
  type Span as OtelSpan,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import type { Logger } from "pino";
import type { TracingSettings } from "../../config/tracing.ts";
import { race, systemClock } from "../../lib/clock.ts";
import { HttpAgent, HttpsAgent } from "../../lib/node-http.ts";
import { count } from "../metrics/meter.ts";
import { within } from "./context.ts";
import type { Attributes, Parent, Span, Tracer } from "./tracer.ts";

/*
 * Sends spans to a receiver of OTLP over HTTP, with OpenTelemetry's SDK. main.ts loads this file only if the settings
 * name a receiver.
 */

/** The limit of unsent spans; further ones are dropped, so that an absent receiver costs at most 2 MB. */
const QUEUE = { maxQueueSize: 2_048, maxExportBatchSize: 256, scheduledDelayMillis: 2_000, exportTimeoutMillis: 8_000 };
/** The number of concurrent batches: one that is being sent, and one that a receiver never finishes answering. */
const CONCURRENCY = 2;
const EXPORT_MS = 3_000;
/** How long sending the last spans may take when the service stops, in ms. */
const CLOSE_MS = 2_000;
const LIMITS = { attributeValueLengthLimit: 256, attributeCountLimit: 32 };

/** Opens the tracer; nothing is sent before there are spans. @param version of this service */
export function openTracer(settings: TracingSettings, version: string, log: Pick<Logger, "info" | "warn">): Tracer {
  const agents: InstanceType<typeof HttpAgent | typeof HttpsAgent>[] = [];
  const exporter = new OTLPTraceExporter({
    url: `${settings.endpoint.replace(/\/$/, "")}/v1/traces`,
    headers: settings.headers,
    timeoutMillis: EXPORT_MS,
    concurrencyLimit: CONCURRENCY,
    httpAgentOptions: (protocol: string) => {
      const agent = protocol === "http:" ? new HttpAgent({ keepAlive: true }) : new HttpsAgent({ keepAlive: true });
      agents.push(agent);
      return agent;
    },
  });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      "service.version": version,
      ...settings.resourceAttributes,
      "service.name": settings.serviceName,
    }),
    sampler: samplerOf(settings.sampler),
    spanLimits: LIMITS,
    spanProcessors: [new BatchSpanProcessor({ exporter: watched(exporter, log), ...QUEUE })],
  });
  const tracer = provider.getTracer("attestd", version);
  const hosts = new Set(settings.hosts);

  function spanOf(own: OtelSpan): Span {
    return {
      child: (name, attributes = {}) =>
        spanOf(tracer.startSpan(name, { attributes: defined(attributes) }, trace.setSpan(ROOT_CONTEXT, own))),
      add: (attributes) => void own.setAttributes(defined(attributes)),
      end(failure) {
        if (!own.isRecording()) return;
        if (failure !== undefined) own.setAttribute("error.type", failure).setStatus({ code: SpanStatusCode.ERROR });
        own.end();
      },
      traceparentFor(host) {
        if (!hosts.has(host) && !isLoopback(host.replace(/:\d+$/, ""))) return undefined;
        const { traceId, spanId, traceFlags } = own.spanContext();
        return `00-${traceId}-${spanId}-${(traceFlags & TraceFlags.SAMPLED).toString(16).padStart(2, "0")}`;
      },
    };
  }

  return {
    request(name, parent, attributes) {
      const options = { attributes: defined(attributes), kind: SpanKind.SERVER };
      return spanOf(tracer.startSpan(name, options, contextOf(parent)));
    },
    work: (name, attributes) => spanOf(tracer.startSpan(name, { attributes: defined(attributes) }, ROOT_CONTEXT)),
    async close() {
      const late = (ends: AbortSignal) => systemClock.sleep(CLOSE_MS, ends);
      await race(new AbortController().signal, () => provider.shutdown(), late).catch(() => undefined);
      // A request that the receiver does not answer would keep the process running.
      for (const agent of agents) agent.destroy();
    },
  };
}

function contextOf(parent: Parent | undefined) {
  if (!parent) return ROOT_CONTEXT;
  return trace.setSpanContext(ROOT_CONTEXT, { ...parent, traceFlags: TraceFlags.NONE, isRemote: true });
}

/**
 * Returns the sampler. None of them asks the parent span: a request's is a stranger's, and our own have the same trace
 * id.
 */
function samplerOf({ name, ratio }: TracingSettings["sampler"]): Sampler {
  if (name === "traceidratio") return new TraceIdRatioBasedSampler(ratio);
  return name === "always_off" ? new AlwaysOffSampler() : new AlwaysOnSampler();
}

/** Counts what was sent, and logs each change. The receiver's text is not logged, because it is a stranger's. */
function watched(exporter: SpanExporter, log: Pick<Logger, "info" | "warn">): SpanExporter {
  let isFailing = false;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const failed = result.code !== 0;
        count("spans", { outcome: failed ? "failed" : "sent" }, spans.length);
        // The batch's timer runs in the context of the request that set it.
        if (failed !== isFailing)
          within(undefined, () => {
            if (failed) log.warn({ code: codeOf(result.error) }, "traces cannot be sent");
            else log.info("traces are sent again");
          });
        isFailing = failed;
        done(result);
      });
    },
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
    shutdown: () => exporter.shutdown(),
  };
}

function codeOf(error: Error | undefined): string | number | undefined {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === "string" || typeof code === "number" ? code : error?.name;
}

function defined(attributes: Attributes): OtelAttributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined)) as OtelAttributes;
}
