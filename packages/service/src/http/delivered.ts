import { LRUCache } from "lru-cache";
import { inOwnMemory } from "../own-memory.ts";
import type { CompleteAnswer } from "./cors.ts";

/** Bytes of the requests, bundles and receipts in a route's cache. */
const MAX_BYTES = 16 * 1024 * 1024;

/**
 * The latest answers of a route, by request. A delivered bundle and its receipt never change, so an identical request
 * gets the same answer without a read of the journal. The name of a request is that of `requestName`.
 */
export function createDeliveredCache(maxBytes = MAX_BYTES) {
  const answers = new LRUCache<string, CompleteAnswer>({ maxSize: maxBytes, sizeCalculation: sizeOf });
  return {
    // Not `get`: the oldest delivery is dropped first, however often it is replayed.
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
 * The name of a request in the cache: its payment header, a NUL, which no header contains, and its body. It is not hashed,
 * because a hash would cost as much as the rest of a replay.
 */
export function requestName(paymentHeader: string, body: Uint8Array): string {
  return `${paymentHeader}\0${Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("latin1")}`;
}
