import type { Handler, Route } from "../endpoints/transport.ts";
import type { HandlerOptions } from "./handler.ts";

/** MCP at `/mcp`: streamable HTTP, revision 2026-07-28, and earlier ones, which begin with `initialize`. */
export function mcpRoute(options: HandlerOptions): Route {
  let handler: Promise<Handler> | undefined;
  return {
    path: "/mcp",
    method: "POST",
    async handle(incoming, parameters) {
      // The SDK takes a fifth of a second to load, so the first request loads it.
      handler ??= import("./handler.ts").then(({ createHandler }) => createHandler(options));
      return (await handler)(incoming, parameters);
    },
  };
}
