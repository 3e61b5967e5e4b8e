import type { Handler, Route } from "../endpoints/route.ts";
import type { HandlerOptions } from "./handler.ts";

/** The Model Context Protocol at `/mcp`: streamable HTTP, revision 2026-07-28 and the `initialize` era before it. */
export function mcpRoute(options: HandlerOptions): Route {
  let handler: Promise<Handler> | undefined;

  /** The SDK takes a fifth of a second to load, so it is loaded with the first request. */
  async function load() {
    const { createHandler } = await import("./handler.ts");
    return createHandler(options);
  }

  return {
    path: "/mcp",
    method: "POST",
    async handle(incoming, parameters) {
      handler ??= load();
      return (await handler)(incoming, parameters);
    },
  };
}
