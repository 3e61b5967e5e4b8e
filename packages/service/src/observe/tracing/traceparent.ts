import type { Parent } from "./tracer.ts";

/** Version 00, or a later one, of which only version 00's part may be read (W3C Trace Context, 3.2). */
const FORM = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/;
/** A limit, because a later version may add to it. */
const MAX_LENGTH = 512;

/**
 * Reads `traceparent` (W3C Trace Context). The sampling flag is not read: a stranger does not decide what this service
 * records.
 * @returns undefined if it is absent or wrong: then a new trace begins
 */
export function parseTraceparent(value: string | string[] | undefined): Parent | undefined {
  if (typeof value !== "string" || value.length > MAX_LENGTH) return undefined;
  const [, version, traceId, spanId, more] = FORM.exec(value) ?? [];
  if (traceId === undefined || spanId === undefined || (version === "00" && more !== undefined)) return undefined;
  return { traceId, spanId };
}
