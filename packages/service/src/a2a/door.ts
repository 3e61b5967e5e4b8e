import { X402_A2A_EXTENSION } from "../catalogue/about.ts";
import { messageForm } from "../endpoints/arguments.ts";
import type { ReadMessage } from "../endpoints/messages.ts";
import { type Door, receive } from "../endpoints/transport.ts";
import { type AgentOptions, createAgent } from "./agent.ts";
import { answer, type RpcOptions } from "./rpc.ts";

/** Agent2Agent 0.3.0 at `/a2a`: JSON-RPC over HTTP. */
export function a2aDoor({
  log,
  readMessage,
  ...options
}: AgentOptions & Pick<RpcOptions, "log"> & { readMessage: ReadMessage }): Door {
  const methods = createAgent(options);
  const rpc = { origin: options.origin, log };
  const form = messageForm("a2a", options, ({ skill }) => skill?.id, ["skill"]);
  return {
    path: "/a2a",
    methods: ["POST"],
    async handle(request) {
      const response = Response.json(await answer(await receive(request, form, readMessage), methods, rpc));
      response.headers.set("cache-control", "no-store");
      // The extensions that are used of those that were asked for (A2A 0.3.0, section 3.2).
      const asked = request.headers.get("x-a2a-extensions") ?? "";
      if (asked.split(",").some((uri) => uri.trim() === X402_A2A_EXTENSION))
        response.headers.set("x-a2a-extensions", X402_A2A_EXTENSION);
      return response;
    },
  };
}
