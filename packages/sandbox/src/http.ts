import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";

/** A request to one of the sandbox's servers. */
export interface SandboxRequest {
  server: "algod" | "indexer" | "network" | "facilitator" | "base" | "solana";
  method: string;
  /** Path and query as sent. */
  url: string;
}

/** Called with every request before it is answered. */
export type RequestObserver = (request: SandboxRequest) => void;

export interface ServerOptions {
  /** 0, the default, picks a free port. */
  port?: number | undefined;
  onRequest?: RequestObserver | undefined;
}

export interface Listening {
  /** Origin, without a trailing slash. */
  url: string;
  /** Stops listening and closes all connections, also of waiting requests. */
  close(): Promise<void>;
}

/**
 * Serves a fetch handler on 127.0.0.1, for this machine only.
 * @throws when the port is in use (`EADDRINUSE`)
 */
export async function listen(
  fetch: (request: Request) => Response | Promise<Response>,
  { port = 0, server: name, onRequest }: ServerOptions & Pick<SandboxRequest, "server">,
): Promise<Listening> {
  const answer = getRequestListener(fetch, { overrideGlobalObjects: false });
  const server = createServer((incoming, outgoing) => {
    onRequest?.({ server: name, method: incoming.method ?? "", url: incoming.url ?? "" });
    void answer(incoming, outgoing);
  });
  await once(server.listen(port, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      const closed = server[Symbol.asyncDispose]();
      server.closeAllConnections();
      await closed;
    },
  };
}
