import type { Sandbox } from "@attestd/sandbox";
import { serve } from "@hono/node-server";
import { decodeSignedTransaction, decodeUnsignedTransaction } from "algosdk";
import { Hono } from "hono";
import { signTransaction } from "../packages/sandbox/src/algorand/account.ts";

/**
 * A facilitator that takes no time: it believes every payment, signs for the fee payer, hands the group to the ledger,
 * and calls it settled. Nobody's money is at risk here, and what it costs is not what is measured.
 */
async function startInstantFacilitator({ facilitatorUrl, algodUrl, algorand }: Sandbox) {
  const { feePayer } = algorand.accounts;
  const supported = await (await fetch(`${facilitatorUrl}/supported`)).json();
  const app = new Hono();
  app.get("/supported", (c) => c.json(supported));
  app.post("/verify", (c) => c.json({ isValid: true }));
  app.post("/settle", async (c) => {
    const { paymentPayload, paymentRequirements } = await c.req.json();
    const { paymentGroup, paymentIndex } = paymentPayload.payload;
    const group = (paymentGroup as string[]).map((transaction, place) => {
      const bytes = Uint8Array.fromBase64(transaction);
      if (place === paymentIndex) return bytes;
      return signTransaction(feePayer, decodeUnsignedTransaction(bytes));
    });
    const response = await fetch(`${algodUrl}/v2/transactions`, { method: "POST", body: Buffer.concat(group) });
    const transaction = decodeSignedTransaction(group[paymentIndex] as Uint8Array).txn.txID();
    return c.json({ success: response.ok, transaction, network: paymentRequirements.network });
  });
  const { url, server } = await new Promise<{ url: string; server: ReturnType<typeof serve> }>((resolve) => {
    const server = serve({ fetch: app.fetch, hostname: "127.0.0.1", port: 0 }, ({ port }) =>
      resolve({ url: `http://127.0.0.1:${port}`, server }),
    );
  });
  return {
    url,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

/** Settings of a service with one for Algorand, for `startNetworks`. @param ends closes it */
export function withInstantFacilitator(ends: AsyncDisposableStack) {
  return async (sandbox: Sandbox) => ({
    facilitators: [
      { url: ends.use(await startInstantFacilitator(sandbox)).url, rails: ["algorand"] },
      { url: sandbox.facilitatorUrl, rails: ["base"] },
    ] as const,
  });
}
