import { ServiceError } from "../errors.ts";
import { Problem } from "../problems.ts";
import { currentContext, within } from "./context.ts";

/** A span of somebody else, by its `traceparent`: 32 and 16 hex characters. */
export type Parent = { traceId: string; spanId: string };

export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** A step that takes time, as an operator sees it in a trace. */
export interface Span {
  /** Begins a span within this one. */
  child(name: string, attributes?: Attributes): Span;
  add(attributes: Attributes): void;
  /** @param failure the kind of an error: never its text, which may come from a stranger. Ending it again does nothing */
  end(failure?: string): void;
  /** The value of `traceparent` for an upstream; undefined for one that is not told. @param host with its port, if any */
  traceparentFor(host: string): string | undefined;
}

export interface Tracer {
  /** Begins the span of a request; within a trace of its client, where the client has one. */
  request(name: string, parent: Parent | undefined, attributes: Attributes): Span;
  /** Begins the span of work that no request waits for. */
  work(name: string, attributes: Attributes): Span;
  /** Sends what there is, for a short time. */
  close(): Promise<void>;
}

/** Runs a step as a span of the current one; where nothing is traced, just runs it. */
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

/** What kind of error it is, in few words of ours. */
function kindOf(error: unknown): string {
  if (error instanceof Problem || error instanceof ServiceError) return error.code;
  return error instanceof Error ? error.name : "unknown";
}
