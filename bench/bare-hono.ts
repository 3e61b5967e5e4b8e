import { serve } from "@hono/node-server";
import { Hono } from "hono";

/** The yardstick of a start: Node, Hono, and one route. */
const app = new Hono();
app.get("/health", (c) => c.json({ status: "pass" }));
serve({ fetch: app.fetch, hostname: "127.0.0.1", port: 0 }, ({ port }) =>
  process.send?.({ ready: `http://127.0.0.1:${port}` }),
);
process.once("disconnect", () => process.exit());
