import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type Handler = (request: IncomingMessage & { body: Buffer }, response: ServerResponse) => void;

/** A real HTTP server on loopback, whose handler a test may change while it runs. */
export class Upstream {
  handler: Handler;
  /** Address and port; kept when the server is closed. */
  host = "";
  /** `METHOD /path` of every request, in order. */
  readonly requests: string[] = [];
  readonly #server = createServer(async (request, response) => {
    this.requests.push(`${request.method} ${request.url}`);
    const body = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>));
    this.handler(Object.assign(request, { body }), response);
  });

  private constructor(handler: Handler) {
    this.handler = handler;
  }

  static async start(handler: Handler): Promise<Upstream> {
    const upstream = new Upstream(handler);
    await new Promise<void>((resolve) => upstream.#server.listen(0, "127.0.0.1", resolve));
    upstream.host = `127.0.0.1:${(upstream.#server.address() as AddressInfo).port}`;
    return upstream;
  }

  get url(): string {
    return `http://${this.host}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

export function json(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
}
