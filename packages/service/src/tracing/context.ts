import { AsyncLocalStorage } from "node:async_hooks";

/**
 * For what the running code works: a request, a paid call, or both. Log lines, problems and requests to upstreams further
 * down name it.
 */
export type Context = {
  /** Of the request that is answered, or that began the call. */
  readonly requestId?: string | undefined;
  /** The payment key of the request's payment, once it is read; that of the call. */
  key?: string;
  /** Milliseconds that the stages of the call have taken, in this process. */
  readonly stages: Record<string, number>;
};

const storage = new AsyncLocalStorage<Context>();

/** Runs a function, and all that it begins, in a context. */
export function within<T>(context: Context, run: () => T): T {
  return storage.run(context, run);
}

/** @returns undefined outside of every request and call */
export function currentContext(): Context | undefined {
  return storage.getStore();
}

/** Members that every log line of the context has (pino's `mixin`). */
export function logMembers(): { requestId?: string | undefined; key?: string } {
  const { requestId, key } = storage.getStore() ?? {};
  return { ...(requestId !== undefined && { requestId }), ...(key !== undefined && { key }) };
}
