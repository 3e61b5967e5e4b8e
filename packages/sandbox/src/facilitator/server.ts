import { x402Facilitator } from "@x402/core/facilitator";
import { PaymentPayloadV2Schema, PaymentRequirementsV2Schema } from "@x402/core/schemas";
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import { Hono } from "hono";
import { type Listening, listen, type ServerOptions } from "../http.ts";

/** Adds one rail's schemes to the facilitator. */
export type RailRegistration = (facilitator: x402Facilitator) => void | Promise<void>;

export interface FacilitatorOptions extends ServerOptions {
  rails: RailRegistration[];
}

/** Starts a facilitator for the registered rails. The stock scheme packages verify and settle. */
export async function startFacilitator({ rails, ...options }: FacilitatorOptions): Promise<Listening> {
  const facilitator = new x402Facilitator();
  for (const register of rails) await register(facilitator);
  return listen(facilitatorApp(facilitator).fetch, { server: "facilitator", ...options });
}

/**
 * The HTTP API of an x402 facilitator (version 2) for `HTTPFacilitatorClient` of @x402/core: `POST /verify`,
 * `POST /settle`, `GET /supported`. A malformed request is answered 400, an error in a scheme 500: neither decides about
 * the payment.
 */
function facilitatorApp(facilitator: x402Facilitator): Hono {
  const app = new Hono();
  app.get("/supported", (c) => c.json(facilitator.getSupported()));
  for (const operation of ["verify", "settle"] as const)
    app.post(`/${operation}`, async (c) => {
      const request = parseRequest(await c.req.text());
      if (request === undefined) return c.json({ error: `not a ${operation} request` }, 400);
      return c.json(await facilitator[operation](request.payload, request.requirements));
    });
  app.onError((error, c) => c.json({ error: error.message }, 500));
  return app;
}

function parseRequest(text: string): { payload: PaymentPayload; requirements: PaymentRequirements } | undefined {
  try {
    const body = JSON.parse(text);
    // Checked but passed on unchanged, because the schemas drop members that a scheme may need.
    PaymentPayloadV2Schema.parse(body.paymentPayload);
    PaymentRequirementsV2Schema.parse(body.paymentRequirements);
    return { payload: body.paymentPayload, requirements: body.paymentRequirements };
  } catch {
    return undefined;
  }
}
