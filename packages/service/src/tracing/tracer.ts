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
