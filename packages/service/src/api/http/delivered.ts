import { LRUCache } from "lru-cache";
import { inOwnMemory } from "../../lib/own-memory.ts";
import type { CompleteAnswer } from "./cors.ts";

/** The limit of a route's cache, in bytes of requests, bundles and receipts. */
const MAX_BYTES = 16 * 1024 * 1024;

/**
 * Makes a cache of a route's latest answers, by request. A delivered bundle and its receipt never change, so an
 * identical request gets the same answer without reading the journal. `requestName` gives the cache key.
 */
export function createDeliveredCache(maxBytes = MAX_BYTES) {
  const answers = new LRUCache<string, CompleteAnswer>({ maxSize: maxBytes, sizeCalculation: sizeOf });
  return {
    // Uses `peek`, not `get`, so that the oldest delivery is dropped first, however often it is replayed.
    find: (request: string) => answers.peek(request),
    keep(request: string, answer: CompleteAnswer) {
      const { body } = answer;
      const own = body instanceof Uint8Array ? inOwnMemory(body) : body;
      if (!answers.has(request)) answers.set(request, { ...answer, body: own });
    },
  };
}

function sizeOf({ headers }: CompleteAnswer, request: string): number {
  return request.length + Number(headers["content-length"]) + (headers["payment-response"]?.length ?? 0);
}

/**
 * Returns a request's cache key: its payment header, a NUL, which no header contains, and its body. It is not hashed,
 * because hashing would cost as much as the rest of a replay.
 */
export function requestName(paymentHeader: string, body: Uint8Array): string {
  return `${paymentHeader}\0${Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("latin1")}`;
}
