import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import { z } from "zod";
import { CATALOGUE, type Endpoint } from "../catalogue/catalogue.ts";
import type { Subject } from "../subjects/subject.ts";
import type { Payment } from "./rails/rail.ts";

/** What is sold: over HTTP identified by the endpoint's URL, over MCP by the tool's. */
export type Resource = {
  url: string;
  description: string;
  /** x402 extensions, by name. */
  extensions?: Readonly<Record<string, unknown>>;
};

/** Returns the HTTP resource of a paid endpoint. @param origin of the service's links */
export function resourceOf(endpoint: Endpoint, origin: string): Resource {
  const { path, summary } = endpoint;
  return { url: `${origin}${path}`, description: summary, extensions: bazaarExtension(endpoint) };
}

/**
 * Returns the resource sold for a subject. Receipts and facilitators name the HTTP endpoint, over whichever transport
 * it was bought.
 */
export function resourcesAt(origin: string): (subject: Pick<Subject, "kind">) => Resource {
  const sold = {
    transaction: resourceOf(CATALOGUE.attest, origin),
    block: resourceOf(CATALOGUE.attestBlock, origin),
    inclusion: resourceOf(CATALOGUE.proveInclusion, origin),
    batch: resourceOf(CATALOGUE.attestBatch, origin),
  };
  return ({ kind }) => sold[kind];
}

/** Converts a resource to x402's form (v2, ResourceInfo). */
export function resourceInfo({ url, description }: Resource): NonNullable<PaymentPayload["resource"]> {
  return { url, description, mimeType: "application/json" };
}

/**
 * Makes the payment that the facilitator gets (x402 v2, PaymentPayload): only the scheme's own part is the client's.
 *
 * A facilitator may refuse a client's spelling of `accepted` or a long `resource`, and may act on `extensions`. So
 * `accepted` is the requirement that is settled, `resource` is ours, and the extensions are those that we declare for
 * the resource. The client's `payment-identifier` concerns only us, and gas sponsoring needs payloads that we refuse.
 * @param requirement our own, of the offer that the payment accepted
 */
export function forwardedPayment(
  { wire }: Pick<Payment, "wire">,
  requirement: PaymentRequirements,
  resource: Resource,
): PaymentPayload {
  return {
    x402Version: 2,
    resource: resourceInfo(resource),
    accepted: requirement,
    payload: wire,
    ...(resource.extensions && { extensions: resource.extensions }),
  };
}

/**
 * Tells indexers of paid resources how to call a paid endpoint (x402 extension `bazaar`): its method, the schema of its
 * body and an example. The OpenAPI document has the answers: this is sent in a header, and comes back in every payment.
 * The stock package would return the same (resource.test.ts), but loads a JSON Schema validator.
 */
export function bazaarExtension({ method, body }: Endpoint): Record<string, unknown> {
  if (!body) throw new Error("a paid endpoint has a body");
  const { $schema, ...inputSchema } = z.toJSONSchema(body.schema, { io: "input" });
  const [example = {}] = Object.values(body.examples ?? {});
  const input = {
    type: "object",
    properties: {
      type: { type: "string", const: "http" },
      method: { type: "string", enum: ["POST", "PUT", "PATCH"] },
      bodyType: { type: "string", enum: ["json", "form-data", "text"] },
      body: inputSchema,
    },
    required: ["type", "method", "bodyType", "body"],
    additionalProperties: false,
  };
  return {
    bazaar: {
      info: { input: { type: "http", method, bodyType: "json", body: example } },
      schema: { $schema, type: "object", properties: { input }, required: ["input"] },
    },
  };
}
