import type { RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import type { Logger } from "pino";
import { a2aRoute } from "./api/a2a/agent.ts";
import { createTaskIds } from "./api/a2a/task-id.ts";
import { createApp } from "./api/app.ts";
import { createAccessLog } from "./api/http/access-log.ts";
import type { Observe } from "./api/http/listener.ts";
import { type PageFile, pageRoutes, viewOf } from "./api/http/page.ts";
import { createRateLimit, type LimitClass, type RateLimit } from "./api/http/rate-limit.ts";
import { closeStalled } from "./api/http/stalled.ts";
import { answerUnread } from "./api/http/unread.ts";
import { mcpRoute } from "./api/mcp/route.ts";
import { openAdmin } from "./api/monitoring/admin.ts";
import { answerCounter, callCounter } from "./api/monitoring/answers.ts";
import { VERSION } from "./catalogue/about.ts";
import { CATALOGUE, type Endpoint } from "./catalogue/catalogue.ts";
import { type Config, readConfig, type Settings } from "./config/config.ts";
import { createServer } from "./lib/node-http.ts";
import { startMetrics } from "./observe/metrics/meter.ts";
import { openLog } from "./observe/tracing/log.ts";
import type { Tracer } from "./observe/tracing/tracer.ts";
import { ownTables } from "./payment/rails/registry.ts";
import { openService, type Seams } from "./service.ts";

export type { Observe } from "./api/http/listener.ts";
export type { PageFile } from "./api/http/page.ts";
export type { Seams } from "./service.ts";

export type StartOptions = Seams & {
  /** Whether a ledger other than MainNet is allowed, on a loopback host. */
  sandbox: boolean;
  /** The built files of the page for people. */
  page?: readonly PageFile[] | undefined;
  /** Takes the lines of the log, one JSON object each; default: standard output. */
  log?: { write(line: string): void } | undefined;
  /** For tests. */
  observe?: Observe | undefined;
};

export type RunningService = {
  /** The service's own address. */
  url: string;
  /** The address of the operator's listener, if there is one. */
  adminUrl?: string;
  /** Answers open requests, ends every loop, closes the journal. */
  close(): Promise<void>;
};

/** How long open requests may take after `close`, in ms. */
const DRAIN_MS = 10_000;

/**
 * Starts the service: reads the settings, opens what it needs, listens.
 *
 * @param settings as `readSettingsFile` reads them (docs/operating/settings.md)
 * @throws config_invalid when a setting is wrong; Error when the journal or a network cannot be used
 */
export async function startService(
  settings: Settings,
  { sandbox, page, observe, log: lines, ...seams }: StartOptions,
): Promise<RunningService> {
  const config = readConfig(settings, { sandbox, own: ownTables(), signs: true });
  const log = openLog(config.logLevel, lines);

  // Listens first, because with port 0 the links and the first key entry need the actual port.
  const opening = Promise.withResolvers<RequestListener>();
  opening.promise.catch(() => undefined);
  const early: RequestListener = (incoming, outgoing) => {
    opening.promise.then((listener) => listener(incoming, outgoing)).catch(() => outgoing.destroy());
  };
  const server = createServer(
    { requestTimeout: 30_000, headersTimeout: 10_000, connectionsCheckingInterval: 250, maxHeaderSize: 16_384 },
    early,
  );
  const url = await listen(server, config.host, config.port);
  const origin = config.publicUrl ?? url;
  answerUnread(server, origin);
  closeStalled(server, seams.maxStallMs);
  let tracer: Tracer | undefined;
  try {
    const metrics = config.admin && (await startMetrics());
    tracer = await tracerOf(config, log);
    const service = await openService(config, origin, log, { ...seams, tracer });
    const offered = { ...service.api, catalogue: CATALOGUE, origin, log };
    const ids = createTaskIds(service.secret);
    const endpoints = Object.values<Endpoint>(CATALOGUE);
    const skills = endpoints.filter(({ skill }) => skill);
    const tools = endpoints.filter(({ tool }) => tool);
    const agents = [
      a2aRoute({ ...offered, ids, observeCall: callCounter("a2a", skills) }),
      mcpRoute({ ...offered, origins: [origin, config.mcpUrl ?? origin], observeCall: callCounter("mcp", tools) }),
    ];
    const routes = [...agents, ...pageRoutes(page)];
    const agentPaths = agents.map(({ path }) => path);
    const counted = answerCounter([...endpoints.map(({ path }) => path), ...agentPaths]);
    const { trustProxy } = config;
    const rateLimit = rateLimitOf(config, agentPaths);
    const listener = createApp({
      ...{ ...offered, underWay: service.underWay, routes, rateLimit, trustProxy, view: viewOf(page) },
      accessLog: config.accessLog ? createAccessLog(log, trustProxy) : undefined,
      observe(...answered) {
        counted(...answered);
        observe?.(...answered);
      },
    });
    opening.resolve(listener);
    server.off("request", early).on("request", listener);
    const admin = metrics && config.admin && (await openAdmin(metrics, config.admin));
    log.info({ url, kid: service.kid, ...(admin && { metrics: `${admin.url}/metrics` }) }, "listening");
    return {
      url,
      ...(admin && { adminUrl: admin.url }),
      async close() {
        service.drain();
        await admin?.close();
        const closed = new Promise<void>((resolve) => server.close(() => resolve()));
        server.closeIdleConnections();
        const late = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
        await closed;
        clearTimeout(late);
        await service.close();
        await tracer?.close();
        log.info("closed");
      },
    };
  } catch (error) {
    opening.reject(error);
    server.close();
    server.closeAllConnections();
    await tracer?.close();
    throw error;
  }
}

/** Loads OpenTelemetry only if the settings name a receiver. */
async function tracerOf({ tracing }: Config, log: Logger): Promise<Tracer | undefined> {
  if (!tracing) return undefined;
  const { openTracer } = await import("./observe/tracing/otlp.ts");
  return openTracer(tracing, VERSION, log);
}

/** @param agents the paths of the other protocols @returns undefined if there is no limit */
function rateLimitOf({ rateLimit: perMinute, trustProxy }: Config, agents: readonly string[]): RateLimit | undefined {
  if (Object.values(perMinute).every((limit) => limit === undefined)) return undefined;
  const classes = new Map<string | undefined, LimitClass | undefined>(agents.map((path) => [path, "agents"]));
  for (const { path, access, tag } of Object.values<Endpoint>(CATALOGUE))
    classes.set(path, access === "paid" ? "paid" : tag === "verify" ? "verify" : "documents");
  // A load balancer that is refused would consider the service dead.
  for (const { path } of [CATALOGUE.health, CATALOGUE.ready]) classes.set(path, undefined);
  const classOf = (path: string | undefined) => (classes.has(path) ? classes.get(path) : "documents");
  return createRateLimit({ perMinute, classOf, trustProxy });
}

async function listen(server: ReturnType<typeof createServer>, host: string, port: number): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const { port: bound } = server.address() as AddressInfo;
  return `http://${host.includes(":") ? `[${host}]` : host}:${bound}`;
}
