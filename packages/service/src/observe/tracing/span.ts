import { ServiceError } from "../../lib/errors.ts";
import { Problem } from "../../lib/problems.ts";
import { currentContext, within } from "./context.ts";
import type { Attributes, Span } from "./tracer.ts";

/** Runs a step as a child of the current span; if tracing is off, just runs it. */
export function inSpan<T>(name: string, attributes: Attributes, run: () => Promise<T>): Promise<T> {
  const context = currentContext();
  return context?.span ? runIn(context.span.child(name, attributes), run) : run();
}

/** Runs a step in a span, which ends with it. */
export async function runIn<T>(span: Span, run: () => Promise<T>): Promise<T> {
  const context = currentContext();
  try {
    const result = await within({ call: { stages: {} }, ...context, span }, run);
    span.end();
    return result;
  } catch (error) {
    span.end(kindOf(error));
    throw error;
  }
}

/** Returns an error's kind in our own words. */
function kindOf(error: unknown): string {
  if (error instanceof Problem || error instanceof ServiceError) return error.code;
  return error instanceof Error ? error.name : "unknown";
}
