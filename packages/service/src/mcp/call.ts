import type { JsonValue } from "@attestd/proof/json";
import type { CallToolResult } from "@modelcontextprotocol/server";
import type { Logger } from "pino";
import type { Admit } from "../calls/admit.ts";
import type { Endpoint } from "../catalogue/catalogue.ts";
import { type Arguments, callFree, requireSize } from "../endpoints/arguments.ts";
import { problemOf } from "../endpoints/failure.ts";
import type { Operation } from "../endpoints/operations.ts";
import { toPaymentPayload } from "../payment/header.ts";
import { outcomeResult, problemResult, succeeded } from "./results.ts";

export type CallOptions = {
  admit: Admit;
  /** Of every absolute link. */
  origin: string;
  log: Logger;
};

/** A parsed call of a tool: the arguments, and the payment if there is one. */
export type ToolCall = Arguments & { payment: JsonValue | undefined };

/**
 * Calls a tool: gives its arguments to the endpoint's operation and returns the result. A failure is a result too, with
 * `isError`, so that a model sees it.
 */
export async function callTool(
  name: string,
  endpoint: Endpoint,
  operation: Operation,
  call: ToolCall,
  { admit, origin, log }: CallOptions,
): Promise<CallToolResult> {
  try {
    if (operation.kind !== "paid") return succeeded(await callFree(endpoint, operation, call));
    requireSize(call.members, endpoint);
    const subject = operation.subject(call.members);
    const payment = call.payment === undefined ? undefined : toPaymentPayload(call.payment);
    const resource = { url: `mcp://tool/${name}`, description: endpoint.summary };
    return outcomeResult(await admit(subject, payment), resource);
  } catch (error) {
    return problemResult(problemOf(error, { log, mayBePaid: call.payment !== undefined, tool: name }), origin);
  }
}
