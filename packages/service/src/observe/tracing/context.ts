import { AsyncLocalStorage } from "node:async_hooks";
import type { Parent, Span } from "./tracer.ts";

/**
 * What the running code works for: a request, a paid call, or both. Log lines, problems and requests to upstreams name
 * it.
 */
export type Context = {
  /** Of the request that is answered, or that began the call. */
  readonly requestId?: string | undefined;
  readonly call: CallContext;
  /** Returns the name of the request's client. */
  readonly client?: (() => string) | undefined;
  readonly answer?: AnswerContext | undefined;
  /** The span of a traced request's client. */
  readonly parent?: Parent | undefined;
  /** The innermost running span; undefined if tracing is off. */
  readonly span?: Span | undefined;
};

/** The answer to a request, which its client reads. */
export type AnswerContext = {
  /** Runs a function when it has been sent, or the connection has ended. */
  ended(run: () => void): void;
  /** Ends the connection. */
  close(): void;
  /** Its bytes, if they are already counted as in progress (calls/under-way.ts). */
  held?: { took(bytes: number): void };
};

export type CallContext = {
  /** The payment key: the request's, once its payment is read, or the call's. */
  key?: string;
  /** How long the stages of the call have taken in this process, in ms. */
  readonly stages: Record<string, number>;
};

const storage = new AsyncLocalStorage<Context | undefined>();

/** Runs a function, and everything that it starts, in a context; `undefined` for none. */
export function within<T>(context: Context | undefined, run: () => T): T {
  return storage.run(context, run);
}

/** @returns undefined outside of every request and call */
export function currentContext(): Context | undefined {
  return storage.getStore();
}

/** Returns the members that every log line of the context has (pino's `mixin`). */
export function logMembers(): { requestId?: string; key?: string } {
  const { requestId, call } = storage.getStore() ?? {};
  return { ...(requestId !== undefined && { requestId }), ...(call?.key !== undefined && { key: call.key }) };
}
