import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import type { Route } from "../../src/api/endpoints/transport.ts";

/** Asks a route without a network between. @throws whatever the route throws */
export async function ask(
  { method, path, handle }: Route,
  { headers = {}, body = "" }: { headers?: Record<string, string>; body?: string } = {},
): Promise<Response> {
  const request = Object.assign(Readable.from([Buffer.from(body)]), { method, url: path, headers });
  const answer = await handle(request as unknown as IncomingMessage, { params: {}, query: {} });
  return new Response(answer.body, answer);
}

/** Serves a listener on loopback. */
export async function serve(listener: RequestListener): Promise<{ url: string } & AsyncDisposable> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
