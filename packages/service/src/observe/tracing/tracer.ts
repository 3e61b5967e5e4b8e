/** Another party's span, from its `traceparent`: 32 and 16 hex characters. */
export type Parent = { traceId: string; spanId: string };

export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** A step that takes time, shown in a trace. */
export interface Span {
  /** Begins a span within this one. */
  child(name: string, attributes?: Attributes): Span;
  add(attributes: Attributes): void;
  /**
   * @param failure the kind of an error: never its text, which may come from a stranger. Ending it again does nothing
   */
  end(failure?: string): void;
  /**
   * Returns the value of `traceparent` for an upstream; undefined if it gets none. @param host with its port, if any
   */
  traceparentFor(host: string): string | undefined;
}

export interface Tracer {
  /** Begins the span of a request, within its client's trace if it has one. */
  request(name: string, parent: Parent | undefined, attributes: Attributes): Span;
  /** Begins the span of work that no request waits for. */
  work(name: string, attributes: Attributes): Span;
  /** Sends the remaining spans, for a short time. */
  close(): Promise<void>;
}
