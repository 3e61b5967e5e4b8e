import { X402_A2A_EXTENSION } from "../catalogue/about.ts";
import { json } from "../endpoints/answer.ts";
import { messageForm, offeredBy } from "../endpoints/arguments.ts";
import { receiveMessage } from "../endpoints/body.ts";
import type { Route, TransportOptions } from "../endpoints/transport.ts";
import { createAgent } from "./agent.ts";
import { answer } from "./rpc.ts";
import type { TaskIds } from "./task-id.ts";

/** Agent2Agent 0.3.0 at `/a2a`: JSON-RPC over HTTP. */
export function a2aRoute(options: TransportOptions & { ids: TaskIds }): Route {
  const offered = offeredBy(options, ({ skill }) => skill?.id);
  const methods = createAgent(offered, options);
  const form = messageForm("a2a", offered, ["skill"]);
  return {
    path: "/a2a",
    method: "POST",
    async handle(incoming) {
      const received = await receiveMessage(incoming, form, options.readMessage);
      // Lists the requested extensions that are used (A2A 0.3.0, section 3.2).
      const requested = String(incoming.headers["x-a2a-extensions"] ?? "").split(",");
      const isUsed = requested.some((uri) => uri.trim() === X402_A2A_EXTENSION);
      const headers = isUsed ? { "x-a2a-extensions": X402_A2A_EXTENSION } : {};
      return json(200, JSON.stringify(await answer(received, methods, options)), headers);
    },
  };
}
