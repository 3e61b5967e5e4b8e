import type { RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { createServer } from "../../lib/node-http.ts";
import type { Metrics } from "../../observe/metrics/meter.ts";

/**
 * Serves `GET /metrics` to the operator on a separate listener: only the operator may see it, and it must answer while
 * the public listener is full.
 * @throws Error when it cannot listen
 */
export async function openAdmin(metrics: Metrics, { host, port }: { host: string; port: number }) {
  const answer: RequestListener = async (incoming, outgoing) => {
    if (incoming.url !== "/metrics") return void outgoing.writeHead(404).end();
    if (incoming.method !== "GET" && incoming.method !== "HEAD")
      return void outgoing.writeHead(405, { allow: "GET, HEAD" }).end();
    try {
      const text = await metrics.text();
      outgoing.writeHead(200, { "content-type": metrics.contentType, "cache-control": "no-store" }).end(text);
    } catch {
      outgoing.writeHead(500).end();
    }
  };
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 5_000 }, answer);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const { address, port: bound } = server.address() as AddressInfo;
  return {
    url: `http://${address.includes(":") ? `[${address}]` : address}:${bound}`,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}
