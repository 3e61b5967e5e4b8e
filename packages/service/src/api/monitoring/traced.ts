import type { Admit } from "../../calls/admit.ts";
import { isWhole } from "../../calls/call.ts";
import type { Carrying } from "../../calls/runner.ts";
import { count } from "../../observe/metrics/meter.ts";
import { currentContext, within } from "../../observe/tracing/context.ts";
import { runIn } from "../../observe/tracing/span.ts";
import type { Tracer } from "../../observe/tracing/tracer.ts";
import type { OfferedRail } from "../../payment/rails/rail.ts";
import { chainsOf, type Subject } from "../../subjects/subject.ts";

/*
 * The spans of paid calls: one for a request with a payment, and one for the call that it begins, which continues after
 * its answer.
 */

/**
 * Counts requests with a payment by their answers, each in a span.
 * @param tracer undefined if tracing is off
 */
export function observedAdmit(admit: Admit, rails: readonly OfferedRail[], tracer: Tracer | undefined): Admit {
  return async (subject, payload, purchase) => {
    const { requestId, parent } = currentContext() ?? {};
    const { network } = payload.accepted;
    const rail = rails.find((one) => one.isNetwork(network))?.name ?? "other";
    const span = tracer?.request("paid request", parent, {
      ...ofSubject(subject),
      "attestd.request_id": requestId,
      "attestd.network": typeof network === "string" ? network : undefined,
    });
    const run = async () => {
      const outcome = await admit(subject, payload, purchase);
      const { code } = outcome.kind === "problem" ? outcome.problem : { code: undefined };
      count("payments", { rail, answer: code ?? outcome.kind });
      span?.add({ "attestd.key": currentContext()?.call.key, "attestd.answer": code ?? outcome.kind });
      if (code !== undefined) span?.end(code);
      return outcome;
    };
    try {
      return await (span ? runIn(span, run) : run());
    } catch (error) {
      count("payments", { rail, answer: "internal" });
      throw error;
    }
  };
}

/** Gives a call's loop its context: its key, and the request that began it, which did its first stages. */
export function contextOfCalls(tracer: Tracer | undefined): Carrying {
  return (call, carry) => {
    const { requestId, span: request, call: own } = currentContext() ?? {};
    const { key } = call;
    const ofRow = isWhole(call) && { ...ofSubject(call.subject), "attestd.rail": call.rail };
    const attributes = { ...ofRow, "attestd.key": key };
    // After a restart there is no request: the key joins the two traces.
    const span = request?.child("paid call", attributes) ?? tracer?.work("paid call", attributes);
    const carried = within({ requestId, call: { key, stages: own?.stages ?? {} }, span }, carry);
    return span ? carried.finally(() => span.end()) : carried;
  };
}

function ofSubject(subject: Subject) {
  return {
    "attestd.subject": subject.kind,
    "attestd.chain": chainsOf(subject).join(),
    ...(subject.kind === "batch" && { "attestd.items": subject.items.length }),
  };
}
