import { X402_A2A_EXTENSION } from "../catalogue/about.ts";
import { json } from "../endpoints/answer.ts";
import { messageForm } from "../endpoints/arguments.ts";
import type { ReadMessage } from "../endpoints/messages.ts";
import { receiveMessage } from "../endpoints/receive-message.ts";
import type { Route } from "../endpoints/route.ts";
import { type AgentOptions, createAgent } from "./agent.ts";
import { answer, type RpcOptions } from "./rpc.ts";

/** Agent2Agent 0.3.0 at `/a2a`: JSON-RPC over HTTP. */
export function a2aRoute({
  log,
  readMessage,
  ...options
}: AgentOptions & Pick<RpcOptions, "log"> & { readMessage: ReadMessage }): Route {
  const methods = createAgent(options);
  const rpc = { origin: options.origin, log };
  const form = messageForm("a2a", options, ({ skill }) => skill?.id, ["skill"]);
  return {
    path: "/a2a",
    method: "POST",
    async handle(incoming) {
      const received = await receiveMessage(incoming, form, readMessage);
      // Names those of the requested extensions that are used (A2A 0.3.0, section 3.2).
      const requested = String(incoming.headers["x-a2a-extensions"] ?? "").split(",");
      const isUsed = requested.some((uri) => uri.trim() === X402_A2A_EXTENSION);
      const headers = isUsed ? { "x-a2a-extensions": X402_A2A_EXTENSION } : {};
      return json(200, JSON.stringify(await answer(received, methods, rpc)), headers);
    },
  };
}
