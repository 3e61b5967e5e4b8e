import { AsyncLocalStorage } from "node:async_hooks";
import type { Parent, Span } from "./tracer.ts";

/**
 * For what the running code works: a request, a paid call, or both. Log lines, problems and requests to upstreams further
 * down name it.
 */
export type Context = {
  /** Of the request that is answered, or that began the call. */
  readonly requestId?: string | undefined;
  readonly call: CallContext;
  /** The name of the request's client. */
  readonly client?: (() => string) | undefined;
  readonly answer?: AnswerContext | undefined;
  /** The span of a traced request's client. */
  readonly parent?: Parent | undefined;
  /** The innermost span that runs; undefined where nothing is traced. */
  readonly span?: Span | undefined;
};

/** The answer to a request, which its client reads. */
export type AnswerContext = {
  /** Runs something when it has been sent, or the connection has ended. */
  ended(run: () => void): void;
  /** Ends the connection. */
  close(): void;
  /** Its bytes, where they count as under way already (calls/under-way.ts). */
  held?: { took(bytes: number): void };
};

export type CallContext = {
  /** The payment key: of the request's payment, once it is read; of the call. */
  key?: string;
  /** Milliseconds that the stages of the call have taken, in this process. */
  readonly stages: Record<string, number>;
};

const storage = new AsyncLocalStorage<Context | undefined>();

/** Runs a function, and all that it begins, in a context; `undefined`: in none. */
export function within<T>(context: Context | undefined, run: () => T): T {
  return storage.run(context, run);
}

/** @returns undefined outside of every request and call */
export function currentContext(): Context | undefined {
  return storage.getStore();
}

/** Members that every log line of the context has (pino's `mixin`). */
export function logMembers(): { requestId?: string; key?: string } {
  const { requestId, call } = storage.getStore() ?? {};
  return { ...(requestId !== undefined && { requestId }), ...(call?.key !== undefined && { key: call.key }) };
}
