import type { IncomingHttpHeaders } from "node:http";

export type FakeRequest = { method: string; url: string; headers: IncomingHttpHeaders; body: Buffer };
export type Answer = { status: number; type: string; body: string; headers?: Record<string, string> };

/** A request that was read: what it asks of which key, and what it gets. */
export type Reading = { operation: string; key: string; answer(): Answer };

export function json(status: number, value: object): Answer {
  return { status, type: "application/json", body: JSON.stringify(value) };
}
