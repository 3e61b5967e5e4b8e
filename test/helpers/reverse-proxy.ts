import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

/** What a proxy does to what passes; absent: nothing. */
export type Meddling = {
  /** Changes the headers of a request. */
  request?(headers: IncomingHttpHeaders): void;
  /** Changes the headers of an answer. */
  response?(headers: IncomingHttpHeaders): void;
  /** Answers itself. @returns whether it has */
  answer?(incoming: IncomingMessage, outgoing: ServerResponse, body: Buffer): boolean;
};

/** A server before another one, which `target` names at the time of a request. */
export async function startReverseProxy(target: () => string) {
  const proxy = { url: "", meddling: {} as Meddling, [Symbol.asyncDispose]: () => Promise.resolve() };
  const server = createServer({ maxHeaderSize: 65_536 }, async (incoming, outgoing) => {
    const { meddling } = proxy;
    const body = await buffer(incoming);
    if (meddling.answer?.(incoming, outgoing, body)) return;
    const headers = { ...incoming.headers };
    meddling.request?.(headers);
    const { method } = incoming;
    const passed = request(new URL(incoming.url ?? "/", target()), { method, headers }, (answer) => {
      const changed = { ...answer.headers };
      meddling.response?.(changed);
      answer.pipe(outgoing.writeHead(answer.statusCode ?? 502, changed));
    });
    passed.on("error", () => outgoing.writeHead(502).end());
    passed.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  proxy.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  proxy[Symbol.asyncDispose] = async () => {
    server.closeAllConnections();
    await server[Symbol.asyncDispose]();
  };
  return proxy;
}
