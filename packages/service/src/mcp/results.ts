import type { CallToolResult } from "@modelcontextprotocol/server";
import type { Outcome } from "../calls/outcome.ts";
import { x402PaymentRequired } from "../calls/outcome.ts";
import { settlementOf } from "../payment/receipt.ts";
import type { Resource } from "../payment/resource.ts";
import type { Problem } from "../problems.ts";

/** @param text JSON of an object; it is sent as text and as structured content */
export function succeeded(text: string): CallToolResult {
  return { content: [{ type: "text", text }], structuredContent: JSON.parse(text) };
}

/** The outcome of a paid call (x402 v2, MCP transport, tool-result binding). */
export function outcomeResult(outcome: Outcome, resource: Resource): CallToolResult {
  if (outcome.kind === "delivered") return { ...succeeded(outcome.body), ...withReceipt(outcome.receipt) };
  return { ...failed(x402PaymentRequired(outcome, resource)), ...withReceipt(outcome.receipt) };
}

/** A problem document (RFC 9457) as a result. @param origin of this service, for the links */
export function problemResult(problem: Problem, origin: string): CallToolResult {
  const { retryAfter } = problem;
  return failed({ ...problem.toJSON(origin), ...(retryAfter !== undefined && { retryAfter }) });
}

function failed(value: object): CallToolResult {
  return { ...succeeded(JSON.stringify(value)), isError: true };
}

/** @param receipt the value of PAYMENT-RESPONSE */
function withReceipt(receipt: string | undefined): Pick<CallToolResult, "_meta"> {
  return receipt === undefined ? {} : { _meta: { "x402/payment-response": settlementOf(receipt) } };
}
