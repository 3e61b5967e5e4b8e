import { serve } from "@hono/node-server";
import { ExactAvmScheme } from "@x402/avm/exact/server";
import { HTTPFacilitatorClient } from "@x402/core/server";
import type { PaymentRequirements } from "@x402/core/types";
import { ExactEvmScheme } from "@x402/evm/exact/server";
import { paymentMiddleware, x402ResourceServer } from "@x402/hono";
import { Hono } from "hono";

/** The yardstick of a 402: the stock middleware on Hono, with the offers that are given as JSON. */
const [facilitatorUrl = "", offers = ""] = process.argv.slice(2);
const accepts = (JSON.parse(offers) as PaymentRequirements[]).map(
  ({ network, asset, amount, payTo, maxTimeoutSeconds, extra }) => ({
    scheme: "exact",
    network: network as `${string}:${string}`,
    price: { asset, amount, extra },
    payTo,
    maxTimeoutSeconds,
  }),
);
const resources = new x402ResourceServer(new HTTPFacilitatorClient({ url: facilitatorUrl }))
  .register("algorand:*", new ExactAvmScheme())
  .register("eip155:*", new ExactEvmScheme());

const app = new Hono();
app.use(paymentMiddleware({ "POST /attest": { accepts, description: "an attestation" } }, resources));
app.post("/attest", (c) => c.json({ delivered: true }));
serve({ fetch: app.fetch, hostname: "127.0.0.1", port: 0 }, async ({ port }) => {
  const url = `http://127.0.0.1:${port}`;
  // The first request makes the middleware ask its facilitator.
  await fetch(`${url}/attest`, { method: "POST" });
  process.send?.({ ready: url });
});
process.once("disconnect", () => process.exit());
