import { timed } from "../metrics/meter.ts";
import { currentContext } from "./context.ts";
import { inSpan } from "./span.ts";
import type { Attributes } from "./tracer.ts";

/** A step of a paid call that takes time. */
export type Stage = "verify" | "source" | "settle" | "reconcile" | "sign" | "submit" | "seal";

/** Runs a stage: its time counts among the metrics and for the log line of the call, and it is a span of a traced one. */
export async function stage<T>(name: Stage, attributes: Attributes, run: () => Promise<T>): Promise<T> {
  const start = performance.now();
  try {
    return await timed("stageSeconds", { stage: name }, () => inSpan(name, attributes, run));
  } finally {
    const stages = currentContext()?.call.stages;
    if (stages) stages[name] = Math.round((stages[name] ?? 0) + performance.now() - start);
  }
}
