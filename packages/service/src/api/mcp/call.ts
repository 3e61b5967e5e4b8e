import type { JsonValue } from "@attestd/proof/json";
import type { CallToolResult } from "@modelcontextprotocol/server";
import { type Outcome, paymentRequired, statusOf, x402PaymentRequired } from "../../calls/outcome.ts";
import type { Problem } from "../../lib/problems.ts";
import { toPaymentPayload } from "../../payment/header.ts";
import { settlementOf } from "../../payment/receipt.ts";
import type { Resource } from "../../payment/resource.ts";
import { problemOf } from "../endpoints/answer.ts";
import { type Arguments, callFree, type Offered, requireSize } from "../endpoints/arguments.ts";
import { observedCall } from "../endpoints/observed-call.ts";
import { fullText } from "../endpoints/text.ts";
import type { TransportOptions } from "../endpoints/transport.ts";

/** A parsed tool call: the arguments, and the payment if there is one. */
export type ToolCall = Arguments & { payment: JsonValue | undefined };

/** Calls a tool. A failure is also a result, with `isError`, so that a model sees it. */
export async function callTool(
  name: string,
  { endpoint, operation }: Offered,
  call: ToolCall,
  {
    admit,
    offers,
    origin,
    log,
    observeCall,
  }: Pick<TransportOptions, "admit" | "offers" | "origin" | "log" | "observeCall">,
): Promise<CallToolResult> {
  const report = (status: number) => observeCall?.(endpoint, status, call.payment === undefined ? "none" : "sent");
  try {
    return await observedCall(report, async () => {
      if (operation.kind !== "paid")
        return { status: 200, result: succeeded(await callFree(endpoint, operation, call)) };
      requireSize(call.members, endpoint);
      const resource = { url: `mcp://tool/${name}`, description: endpoint.summary };
      const outcome =
        call.payment === undefined
          ? paymentRequired(offers, operation.sale(call.members))
          : await admit(operation.subject(call.members), toPaymentPayload(call.payment));
      return { status: statusOf(outcome), result: await outcomeResult(outcome, resource, origin) };
    });
  } catch (error) {
    return problemResult(problemOf(error, { log, mayBePaid: call.payment !== undefined, tool: name }), origin);
  }
}

/** Returns the outcome of a paid call (x402 v2, MCP transport, tool-result binding). */
async function outcomeResult(outcome: Outcome, resource: Resource, origin: string): Promise<CallToolResult> {
  if (outcome.kind === "problem") return problemResult(outcome.problem, origin);
  const result =
    outcome.kind === "delivered"
      ? succeeded(await fullText(outcome.body))
      : failed(x402PaymentRequired(outcome, resource));
  if (outcome.receipt === undefined) return result;
  return { ...result, _meta: { "x402/payment-response": settlementOf(outcome.receipt) } };
}

function problemResult(problem: Problem, origin: string): CallToolResult {
  const { retryAfter } = problem;
  return failed({ ...problem.toJSON(origin), ...(retryAfter !== undefined && { retryAfter }) });
}

/** @param text JSON of an object; it is sent as text and as structured content */
function succeeded(text: string): CallToolResult {
  return { content: [{ type: "text", text }], structuredContent: JSON.parse(text) };
}

function failed(value: object): CallToolResult {
  return { ...succeeded(JSON.stringify(value)), isError: true };
}
