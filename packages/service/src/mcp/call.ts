import type { JsonObject, JsonValue } from "@attestd/proof/json";
import type { CallToolResult } from "@modelcontextprotocol/server";
import type { PaymentPayload } from "@x402/core/types";
import type { Logger } from "pino";
import { z } from "zod";
import type { Admit } from "../calls/admit.ts";
import { SAME_HEADER } from "../calls/asking.ts";
import type { Endpoint } from "../catalogue.ts";
import { validate } from "../input.ts";
import type { Operation } from "../operations.ts";
import { PaymentMalformed, toPaymentPayload } from "../payment/header.ts";
import { Problem } from "../problems.ts";
import { outcomeResult, problemResult, succeeded } from "./results.ts";

export type CallOptions = {
  admit: Admit;
  /** Of every absolute link. */
  origin: string;
  log: Logger;
};

/** A call of a tool, as it was parsed: the arguments, and the payment where one came with them. */
export type ToolCall = { args: JsonObject; payment: JsonValue | undefined };

/**
 * Calls a tool: gives its arguments to the endpoint's operation and words what comes of that. Whatever goes wrong is a
 * result too, with `isError`, so that a model sees it.
 */
export async function callTool(
  name: string,
  endpoint: Endpoint,
  operation: Operation,
  call: ToolCall,
  { admit, origin, log }: CallOptions,
): Promise<CallToolResult> {
  try {
    switch (operation.kind) {
      case "paid": {
        // The payment too: over HTTP the size of headers bounds it.
        encode(call, endpoint);
        const subject = operation.subject(call.args);
        const outcome = await admit(subject, toPayment(call.payment));
        return outcomeResult(outcome, { url: `mcp://tool/${name}`, description: endpoint.summary });
      }
      case "verify": {
        const { query, body } = divide(call.args, endpoint);
        const report = await operation.verify(encode(body, endpoint), { chain: query.chain !== undefined });
        return succeeded(JSON.stringify(report));
      }
      case "read": {
        const { text } = await operation.read(parameters(call.args, endpoint));
        return succeeded(text);
      }
      case "document":
        parameters(call.args, endpoint);
        return succeeded(operation.text());
    }
  } catch (error) {
    if (error instanceof Problem) return problemResult(error, origin);
    log.error({ err: error, tool: name }, "a tool failed");
    const members = call.payment === undefined ? {} : SAME_HEADER;
    return problemResult(new Problem("internal", "The service failed to answer.", { members }), origin);
  }
}

/** @returns UTF-8 JSON @throws Problem `body_too_large` beyond what the endpoint takes over HTTP */
function encode(value: JsonObject | ToolCall, { body }: Endpoint): Uint8Array {
  const bytes = Buffer.from(JSON.stringify(value));
  const cap = body?.maxBytes ?? 0;
  if (bytes.length > cap) throw new Problem("body_too_large", `The arguments are larger than ${cap} bytes.`);
  return bytes;
}

/** Takes the members of the endpoint's query out of the arguments; what is left is the body. */
function divide(args: JsonObject, { query: schema = z.object() }: Endpoint) {
  const left = Object.entries(args).filter(([name]) => !Object.hasOwn(schema.shape, name));
  return { query: validate(schema, args), body: Object.fromEntries(left) };
}

/** The parameters of the endpoint's path, of which nothing else may be among the arguments. */
function parameters(args: JsonObject, { params = z.object() }: Endpoint): Readonly<Record<string, string>> {
  return validate(params.strict(), args) as Record<string, string>;
}

/** @throws Problem `payment_malformed` */
function toPayment(payment: JsonValue | undefined): PaymentPayload | undefined {
  if (payment === undefined) return undefined;
  try {
    return toPaymentPayload(payment);
  } catch (error) {
    if (error instanceof PaymentMalformed) throw new Problem("payment_malformed", error.message);
    throw error;
  }
}
