import { setTimeout as sleep } from "node:timers/promises";
import type { HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { PaymentPayloadV2Schema, PaymentRequirementsV2Schema } from "@x402/core/schemas";
import { type Context, Hono } from "hono";
import type { Behaviour, Behaviours, Operation } from "./behaviour.ts";
import type { FacilitatorRequest, Fault } from "./dialect.ts";
import { TokenRefused } from "./jwt.ts";
import { HANG_UP, type SettlingOptions, settleAs } from "./settling.ts";

/**
 * Where behaviours are set: `PUT` replaces them (`Behaviours.set`), `GET` lists them. It exists in addition to every
 * dialect's own paths.
 */
export const BEHAVIOUR_PATH = "/sandbox/behaviour";

export interface FacilitatorAppOptions extends SettlingOptions {
  behaviours: Behaviours;
}

type Bindings = { Bindings: HttpBindings };

/** Behaviours that consist of one answer, whatever was asked. */
const FAULTS = ["unauthorized", "exhausted", "failing"] as const satisfies Fault[];

/**
 * The HTTP API of an x402 facilitator (version 2): `POST /verify`, `POST /settle`, `GET /supported`, in a dialect, and
 * behaviours on demand. The stock scheme packages verify and settle. A malformed request is answered 400, an error in a
 * scheme 500: neither decides about the payment.
 */
export function facilitatorApp(options: FacilitatorAppOptions): Hono<Bindings> {
  const { facilitator, dialect, behaviours, closed } = options;
  const app = new Hono<Bindings>();
  app.get(BEHAVIOUR_PATH, (c) => c.text(behaviours.toString()));
  app.put(BEHAVIOUR_PATH, async (c) => {
    try {
      behaviours.set(await c.req.text());
      return c.text(behaviours.toString());
    } catch (error) {
      return c.text((error as Error).message, 400);
    }
  });
  app.get(`${dialect.path}/supported`, (c) =>
    guard("supported", c, async () => c.json(await dialect.supported(facilitator))),
  );
  app.post(`${dialect.path}/verify`, (c) =>
    guard("verify", c, async (behaviour, readRequest) => {
      const request = readRequest();
      const { payload, requirements } = request;
      if (behaviour?.name === "refused") return c.json({ isValid: false, invalidReason: behaviour.reason });
      if (behaviour?.name === "kept" || behaviour?.name === "swallowed") {
        // Nobody waits for it; its outcome is on the chain.
        settleAs({ ...behaviour, name: "slow" }, request, options).catch(() => {});
        if (behaviour.name === "swallowed") return HANG_UP;
        return c.json({ isValid: false, invalidReason: "invalid_payload" });
      }
      if (behaviour?.name === "slow") await sleep(behaviour.milliseconds, undefined, { signal: closed, ref: false });
      return c.json(await facilitator.verify(payload, requirements));
    }),
  );
  app.post(`${dialect.path}/settle`, (c) =>
    guard("settle", c, (behaviour, readRequest) => settleAs(behaviour, readRequest(), options)),
  );
  return app;

  /**
   * Answers requests that never reach the operation: for behaviours, credentials, and bodies that are not a payment.
   */
  async function guard(
    operation: Operation,
    c: Context<Bindings>,
    perform: (
      behaviour: Behaviour | undefined,
      readRequest: () => FacilitatorRequest,
    ) => Promise<Response | typeof HANG_UP>,
  ): Promise<Response> {
    const refuse = (fault: Fault, message: string) => dialect.fault(operation, fault, message);
    const behaviour = behaviours.take(operation);
    if (behaviour?.name === "away") return hangUp(c);
    if (behaviour?.name === "limited") return refuse("limited", "too many requests");
    const { method, path } = c.req;
    const body = method === "POST" ? await c.req.text() : "";
    try {
      if (dialect.readsBodyFirst(operation)) readBody(operation, body);
      dialect.authenticate({ method, path, authorization: c.req.header("authorization") });
      const fault = FAULTS.find((one) => one === behaviour?.name);
      if (fault !== undefined) return refuse(fault, `the sandbox was asked to answer ${fault}`);
      const answer = await perform(behaviour, () => read(operation, body));
      return answer === HANG_UP ? hangUp(c) : answer;
    } catch (error) {
      if (error instanceof TokenRefused) return refuse("unauthorized", error.message);
      if (error instanceof Malformed) return refuse("malformed", error.message);
      return refuse("failing", (error as Error).message);
    }
  }

  function read(operation: Operation, text: string): FacilitatorRequest {
    const request = readBody(operation, text);
    const objection = dialect.objection(request);
    if (objection !== undefined) throw new Malformed(objection);
    return request;
  }
}

class Malformed extends Error {}

/** @throws {Malformed} */
function readBody(operation: Operation, text: string): FacilitatorRequest {
  try {
    const body = JSON.parse(text);
    // Checked but passed on unchanged, because the schemas drop members that a scheme may need.
    PaymentPayloadV2Schema.parse(body.paymentPayload);
    PaymentRequirementsV2Schema.parse(body.paymentRequirements);
    return { payload: body.paymentPayload, requirements: body.paymentRequirements };
  } catch {
    throw new Malformed(`not a ${operation} request`);
  }
}

/** Closes the connection instead of answering. */
function hangUp(c: Context<Bindings>): Response {
  c.env.incoming.socket.destroy();
  return RESPONSE_ALREADY_SENT;
}
