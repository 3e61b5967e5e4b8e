import type { Door } from "../endpoints/transport.ts";
import type { EndpointOptions } from "./endpoint.ts";

/** The Model Context Protocol at `/mcp`: streamable HTTP, revision 2026-07-28 and the `initialize` era before it. */
export function mcpDoor(options: EndpointOptions): Door {
  let endpoint: Promise<(request: Request) => Promise<Response>> | undefined;

  /** The SDK takes a fifth of a second to load. A service that nobody asks over MCP never does. */
  async function load() {
    const { createEndpoint } = await import("./endpoint.ts");
    return createEndpoint(options);
  }

  return {
    path: "/mcp",
    methods: ["POST"],
    async handle(request) {
      endpoint ??= load();
      return (await endpoint)(request);
    },
  };
}
