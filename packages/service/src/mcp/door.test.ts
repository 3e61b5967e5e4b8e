import pino from "pino";
import { expect, test } from "vitest";
import { createApp } from "../app.ts";
import type { Offers } from "../payment/offers.ts";
import { Problem } from "../problems.ts";
import { mcpDoor } from "./door.ts";

test("the door stands behind the rate limit", async () => {
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
    doors: [mcpDoor({ ...options, origins: [] })],
    rateLimit: async () => {
      throw new Problem("too_many_requests", "Enough.", { retryAfter: 3 });
    },
  });
  const { status, headers } = await app.request("/mcp", { method: "POST" }, { incoming: {} });
  expect([status, headers.get("retry-after")]).toEqual([429, "3"]);
});
