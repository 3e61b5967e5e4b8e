import { isObject, type JsonObject, type JsonValue } from "@attestd/proof/json";
import { z } from "zod";
import { invalid, parseInput } from "../../catalogue/input.ts";
import type { Problem } from "../../lib/problems.ts";
import { Json } from "./rpc.ts";

/** A limit above every id that this service issues, even with the longest context. */
const TaskId = z.string().max(1024);
const Members = z.record(z.string(), Json);

/** Other members of a message (A2A 0.3.0, Message) are ignored. */
const Message = z.object({
  role: z.literal("user", "must be user"),
  parts: z
    .array(
      z.discriminatedUnion(
        "kind",
        [z.object({ kind: z.literal("text"), text: z.string() }), z.object({ kind: z.literal("data"), data: Members })],
        "must be a text or a data part",
      ),
    )
    .max(16),
  taskId: TaskId.optional(),
  contextId: z.string().max(128).optional(),
  metadata: Members.optional(),
});
export type Message = z.infer<typeof Message>;

/** Params of `message/send`. */
export const SendParams = z.object({
  message: Message,
  configuration: z.object({ blocking: z.boolean().optional() }).optional(),
});

/** Params of `tasks/get` and of `tasks/cancel`. */
export const TaskParams = z.object({ id: TaskId });

/** The metadata keys of payments in messages (a2a-x402 v0.1, section 7). */
export const PAYMENT = {
  status: "x402.payment.status",
  required: "x402.payment.required",
  payload: "x402.payment.payload",
  receipts: "x402.payment.receipts",
  error: "x402.payment.error",
} as const;

export type SkillCall = { skill: string; args: JsonObject };

/**
 * Reads the call in a message: an object with `skill` and the arguments, as the only data part or as JSON text. A text
 * that is not JSON is the id of a transaction to attest.
 *
 * @throws Problem `body_invalid`, `body_not_json`
 */
export function readSkillCall({ parts }: Message): SkillCall {
  const data = parts.filter((part) => part.kind === "data").map((part): JsonValue => part.data);
  const texts = parts.filter((part) => part.kind === "text").map(({ text }) => text.trim());
  const asked = data.length > 0 ? data : texts.map(readText);
  if (asked.length !== 1) throw unclear("must be one data part or one text");
  const [call] = asked;
  if (!isObject(call)) throw unclear("must be an object");
  const { skill, ...args } = call;
  if (typeof skill !== "string") throw unclear("must have the member skill next to the arguments");
  return { skill, args };
}

function readText(text: string): JsonValue {
  return text.startsWith("{") ? parseInput(text) : { skill: "attest", txid: text };
}

/** Returns the problem of a message whose parts do not name a call. */
export function unclear(detail: string): Problem {
  return invalid({ pointer: "/message/parts", detail });
}
