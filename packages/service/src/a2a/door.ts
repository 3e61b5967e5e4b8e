import { X402_A2A_EXTENSION } from "../catalogue/about.ts";
import { type Door, readBody } from "../door.ts";
import { Problem } from "../problems.ts";
import { type AgentOptions, createAgent } from "./agent.ts";
import { answer, type RpcOptions } from "./rpc.ts";

/** The largest bundle, and room for the message around it, which lies six deep in a request. */
const LIMITS = { maxSize: (2048 + 64) * 1024, maxDepth: 16 + 6 };

/** Agent2Agent 0.3.0 at `/a2a`: JSON-RPC over HTTP. */
export function a2aDoor({ log, ...options }: AgentOptions & Pick<RpcOptions, "log">): Door {
  const methods = createAgent(options);
  const rpc = { limits: LIMITS, origin: options.origin, log };
  return {
    path: "/a2a",
    methods: ["POST"],
    async handle(request) {
      const type = request.headers.get("content-type") ?? "";
      if (type.split(";", 1)[0]?.trim().toLowerCase() !== "application/json")
        throw new Problem("media_type", `The body's media type is ${type || "not given"}.`);
      const response = Response.json(await answer(await readBody(request, LIMITS.maxSize), methods, rpc));
      response.headers.set("cache-control", "no-store");
      // The extensions that are used of those that were asked for (A2A 0.3.0, section 3.2).
      const asked = request.headers.get("x-a2a-extensions") ?? "";
      if (asked.split(",").some((uri) => uri.trim() === X402_A2A_EXTENSION))
        response.headers.set("x-a2a-extensions", X402_A2A_EXTENSION);
      return response;
    },
  };
}
