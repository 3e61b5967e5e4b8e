import type { JsonObject, JsonValue } from "@attestd/proof/json";
import { paymentRequired, statusOf, x402PaymentRequired } from "../../calls/outcome.ts";
import { X402_A2A_EXTENSION } from "../../catalogue/about.ts";
import type { Endpoint } from "../../catalogue/catalogue.ts";
import { invalid, validate } from "../../catalogue/input.ts";
import { toPaymentPayload } from "../../payment/header.ts";
import { resourcesAt } from "../../payment/resource.ts";
import { type Subject, saleOf } from "../../subjects/subject.ts";
import { problemOfVerdict } from "../../verification/verifier.ts";
import { json } from "../endpoints/answer.ts";
import {
  type Arguments,
  callFree,
  callVerify,
  messageForm,
  type Offered,
  offeredBy,
  requireSize,
} from "../endpoints/arguments.ts";
import { receiveMessage } from "../endpoints/body.ts";
import { observedCall } from "../endpoints/observed-call.ts";
import type { FreeOperation } from "../endpoints/operations.ts";
import type { Route, TransportOptions } from "../endpoints/transport.ts";
import { type Message, PAYMENT, readSkillCall, SendParams, TaskParams, unclear } from "./message.ts";
import { answer, type Methods, RPC, RpcError } from "./rpc.ts";
import { canceledTask, completedTask, failedTask, message, refusedTask, unpaidTask, workingTask } from "./task.ts";
import { requestedHash, type TaskIds, taskFor, type UnpaidTask } from "./task-id.ts";

export type A2aOptions = TransportOptions & { ids: TaskIds };

/** Agent2Agent 0.3.0 at `/a2a`: JSON-RPC over HTTP. */
export function a2aRoute(options: A2aOptions): Route {
  const offered = offeredBy(options, ({ skill }) => skill?.id);
  const methods = createAgent(offered, options);
  const form = messageForm("a2a", offered, ["skill"]);
  return {
    path: "/a2a",
    method: "POST",
    async handle(incoming) {
      const received = await receiveMessage(incoming, form, options.readMessage);
      // Lists which of the requested extensions are used (A2A 0.3.0, section 3.2).
      const requested = String(incoming.headers["x-a2a-extensions"] ?? "").split(",");
      const isUsed = requested.some((uri) => uri.trim() === X402_A2A_EXTENSION);
      const headers = isUsed ? { "x-a2a-extensions": X402_A2A_EXTENSION } : {};
      return json(200, JSON.stringify(await answer(received, methods, options)), headers);
    },
  };
}

/**
 * The methods of A2A 0.3.0. A free skill is answered at once; a paid one becomes a task that requires a payment.
 *
 * A task is one purchase. An unpaid task is not stored, because its id contains its subject. A paid task is the call
 * that the journal stores under the task's name.
 */
function createAgent(
  offered: ReadonlyMap<string, Offered>,
  { admit, recall, offers, ids, origin, observeCall }: A2aOptions,
): Methods {
  // Purchases have the same resource URL as over HTTP.
  const resourceOf = resourcesAt(origin);
  const soldBy = ({ subject }: UnpaidTask) => resourceOf(subject ?? { kind: "batch" });

  return {
    async "message/send"(params, bundle) {
      const { message, configuration } = validate(SendParams, params);
      if (message.taskId === undefined) return begin(message, bundle);
      const payment = message.metadata?.[PAYMENT.payload];
      if (payment !== undefined) return pay(message.taskId, payment, message, configuration?.blocking);
      const isRejected = message.metadata?.[PAYMENT.status] === "payment-rejected";
      return isRejected ? cancel(message.taskId) : get(message.taskId);
    },
    "tasks/get": async (params) => get(validate(TaskParams, params).id),
    "tasks/cancel": async (params) => cancel(validate(TaskParams, params).id),
  };

  async function begin(asked: Message, bundle: Uint8Array | undefined): Promise<object> {
    if (asked.metadata?.[PAYMENT.payload] !== undefined)
      throw invalid({ pointer: "/message/taskId", detail: "must be the id of the task to pay for" });
    const { skill, args } = readSkillCall(asked);
    const { endpoint, operation } = skillNamed(skill);
    const report = (status: number) => observeCall?.(endpoint, status, "none");
    return observedCall(report, async () => {
      if (operation.kind !== "paid") {
        const { status, text, data } = await callSkill(endpoint, operation, { members: args, bundle });
        return { status, result: message(text, data, asked.contextId) };
      }
      requireSize(args, endpoint);
      const task = taskFor(skill, { endpoint, operation }, args);
      return { status: 402, result: requirePayment(ids.issue(task, asked.contextId), task) };
    });
  }

  /** Returns the subject of a paid task. A batch's task has only the hash of its items; the message repeats them. */
  function subjectOf({ skill, subject, batch }: UnpaidTask, sent: Message): Subject {
    if (!batch) return subject;
    const again = "must repeat the data part with which the task began: a task's id has no room for a batch";
    if (!sent.parts.some(({ kind }) => kind === "data")) throw unclear(again);
    const call = readSkillCall(sent);
    const { endpoint, operation } = skillNamed(skill);
    if (call.skill !== skill || operation.kind !== "paid") throw unclear(again);
    requireSize(call.args, endpoint);
    const repeated = operation.subject(call.args);
    if (requestedHash(call.args) !== batch.hash) throw unclear(again);
    return repeated;
  }

  /** Pays for a task. If the task already has a call, it answers with the call's state, whatever payment was sent. */
  async function pay(id: string, sent: JsonValue, message: Message, wait = true): Promise<object> {
    const task = ids.read(id);
    // The id is made up, or was issued under a replaced key: only the journal can know it.
    if (!task) return get(id);
    const { endpoint } = skillNamed(task.skill);
    const report = (status: number) => observeCall?.(endpoint, status, "sent");
    const [payment, outcome] = await observedCall(report, async () => {
      const subject = subjectOf(task, message);
      const payment = toPaymentPayload(sent);
      const outcome = await admit(subject, payment, { name: nameOf(id), wait });
      return { status: statusOf(outcome), result: [payment, outcome] as const };
    });
    if (outcome.kind === "delivered") return completedTask(id, outcome);
    const known = await paidTask(id);
    if (known) return known;
    if (outcome.kind === "problem") throw outcome.problem;
    return refusedTask(id, x402PaymentRequired(outcome, soldBy(task)), payment.accepted.network);
  }

  async function get(id: string): Promise<object> {
    return (await paidTask(id)) ?? requirePayment(id, read(id));
  }

  /** Cancels a task. An unpaid task is not stored, so there is nothing to undo. */
  async function cancel(id: string): Promise<object> {
    if (await paidTask(id)) throw new RpcError(RPC.taskNotCancelable, "The task has been paid for.");
    read(id);
    return canceledTask(id);
  }

  /** Looks up the task's call in the journal. @returns undefined if there is none */
  async function paidTask(id: string): Promise<object | undefined> {
    const outcome = await recall(nameOf(id));
    switch (outcome?.kind) {
      case undefined:
        return undefined;
      case "delivered":
        return completedTask(id, outcome);
      case "payment_required":
        return failedTask(id, outcome.error ?? "The payment failed.", outcome.receipt);
      case "problem": {
        const { problem } = outcome;
        if (problem.code === "payment_refunded") return failedTask(id, problem.message);
        return workingTask(id, problem);
      }
    }
  }

  function requirePayment(id: string, task: UnpaidTask): object {
    const required = paymentRequired(offers, task.batch ? task.batch.sale : saleOf(task.subject));
    return unpaidTask(id, x402PaymentRequired(required, soldBy(task)));
  }

  function read(id: string): UnpaidTask {
    const task = ids.read(id);
    if (task) return task;
    throw new RpcError(RPC.taskNotFound, "There is no such task.");
  }

  function skillNamed(name: string): Offered {
    const skill = offered.get(name);
    if (skill) return skill;
    throw unclear(`must name one of the skills: ${[...offered.keys()].join(", ")}`);
  }
}

/** Calls a free skill. A bundle that fails verification is answered with its report. `status`: over HTTP */
async function callSkill(
  endpoint: Endpoint,
  operation: FreeOperation,
  call: Arguments,
): Promise<{ status: number; text: string; data: JsonObject }> {
  if (operation.kind !== "verify")
    return { status: 200, text: `${endpoint.summary}.`, data: JSON.parse(await callFree(endpoint, operation, call)) };
  const verdict = await callVerify(endpoint, operation, call);
  const problem = problemOfVerdict(verdict);
  if (!("report" in verdict)) throw problem;
  return { status: problem?.status ?? 200, text: problem?.message ?? "Verified.", data: verdict.report as JsonObject };
}

/** Returns the name under which the journal stores a task's call (`Purchase`). */
function nameOf(taskId: string): string {
  return `a2a-task/${taskId}`;
}
