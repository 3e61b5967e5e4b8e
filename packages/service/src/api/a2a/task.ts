import { randomUUID } from "node:crypto";
import type { JsonObject } from "@attestd/proof/json";
import { excerpt } from "@attestd/proof/text";
import type { PaymentRequired as X402PaymentRequired } from "@x402/core/types";
import type { Delivered } from "../../calls/outcome.ts";
import type { Problem } from "../../lib/problems.ts";
import { settlementOf } from "../../payment/receipt.ts";
import { fullText } from "../endpoints/text.ts";
import { PAYMENT } from "./message.ts";
import { contextOf } from "./task-id.ts";

/* Tasks and messages (A2A 0.3.0, Task and Message). The payment is in the status message's metadata (a2a-x402). */

/** The status of a payment (a2a-x402 v0.1). */
type PaymentStatus =
  | "payment-required"
  | "payment-rejected"
  | "payment-verified"
  | "payment-completed"
  | "payment-failed";

export function unpaidTask(id: string, required: X402PaymentRequired): object {
  return task(id, "input-required", "Payment is required.", "payment-required", { [PAYMENT.required]: required });
}

/** Nothing was charged: the client may send another payment for the same task. */
export function refusedTask(id: string, required: X402PaymentRequired, network: string): object {
  const reason = required.error ?? "The payment was refused.";
  return task(id, "input-required", reason, "payment-failed", {
    [PAYMENT.required]: required,
    [PAYMENT.error]: "PAYMENT_REFUSED",
    [PAYMENT.receipts]: [{ success: false, errorReason: reason, transaction: "", network }],
  });
}

/** @param problem `settlement_pending` or `attestation_pending` */
export function workingTask(id: string, { code, message }: Problem): object {
  return task(id, "working", message, code === "settlement_pending" ? "payment-verified" : "payment-completed");
}

/** @throws Problem `over_capacity` */
export async function completedTask(id: string, { body, receipt }: Delivered): Promise<object> {
  const bundle = { artifactId: "bundle", name: "bundle", parts: [dataPart(JSON.parse(await fullText(body)))] };
  return {
    ...task(id, "completed", "The bundle is attached.", "payment-completed", {
      [PAYMENT.receipts]: [settlementOf(receipt)],
    }),
    artifacts: [bundle],
  };
}

/** @param receipt of the failed settlement, if there is one */
export function failedTask(id: string, reason: string, receipt?: string): object {
  return task(id, "failed", excerpt(reason, 500), "payment-failed", {
    [PAYMENT.error]: "SETTLEMENT_FAILED",
    [PAYMENT.receipts]: receipt === undefined ? [] : [settlementOf(receipt)],
  });
}

export function canceledTask(id: string): object {
  return task(id, "canceled", "Nothing was charged.", "payment-rejected");
}

/** Makes an answer that needs no task. */
export function message(text: string, data: JsonObject, contextId: string | undefined): object {
  const parts = [{ kind: "text", text }, dataPart(data)];
  return { kind: "message", role: "agent", messageId: randomUUID(), parts, ...(contextId && { contextId }) };
}

function task(id: string, state: string, text: string, status: PaymentStatus, metadata: object = {}): object {
  const contextId = contextOf(id);
  const message = {
    kind: "message",
    role: "agent",
    messageId: randomUUID(),
    taskId: id,
    contextId,
    parts: [{ kind: "text", text }],
    metadata: { [PAYMENT.status]: status, ...metadata },
  };
  return { kind: "task", id, contextId, status: { state, message } };
}

function dataPart(data: JsonObject): object {
  return { kind: "data", data };
}
