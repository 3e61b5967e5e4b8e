import pino from "pino";
import { expect, test } from "vitest";
import { serve } from "../../../test/fakes/transport.ts";
import { Problem } from "../../lib/problems.ts";
import type { Offers } from "../../payment/offers.ts";
import { createApp } from "../app.ts";
import { mcpRoute } from "./route.ts";

test("the route is rate-limited", async () => {
  const options = {
    catalogue: {},
    operations: {},
    readMessage: () => Promise.reject(new Error("nothing is read here")),
    admit: () => Promise.reject(new Error("nobody is admitted here")),
    offers: {} as Offers,
    origin: "https://attestd.example",
    log: pino({ level: "silent" }),
  };
  const app = createApp({
    ...options,
    routes: [mcpRoute({ ...options, origins: [] })],
    rateLimit: () => {
      throw new Problem("too_many_requests", "Enough.", { retryAfter: 3 });
    },
  });
  await using server = await serve(app);
  const { status, headers } = await fetch(`${server.url}/mcp`, { method: "POST" });
  expect([status, headers.get("retry-after")]).toEqual([429, "3"]);
});
