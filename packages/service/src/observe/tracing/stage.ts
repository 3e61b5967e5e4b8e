import { timed } from "../metrics/meter.ts";
import { currentContext } from "./context.ts";
import { inSpan } from "./span.ts";
import type { Attributes } from "./tracer.ts";

/** A step of a paid call that takes time. */
export type Stage = "verify" | "source" | "settle" | "reconcile" | "sign" | "submit" | "seal";

/** Runs a stage. Its time goes into the metrics and the call's log line, and it is a span of a traced call. */
export async function stage<T>(name: Stage, attributes: Attributes, run: () => Promise<T>): Promise<T> {
  const start = performance.now();
  try {
    return await timed("stageSeconds", { stage: name }, () => inSpan(name, attributes, run));
  } finally {
    const stages = currentContext()?.call.stages;
    if (stages) stages[name] = Math.round((stages[name] ?? 0) + performance.now() - start);
  }
}
