import { LRUCache } from "lru-cache";
import type { CompleteAnswer } from "./cors.ts";

/** Bytes of requests, bundles and receipts that a route remembers. */
const MAX_BYTES = 16 * 1024 * 1024;

export type DeliveredCache = {
  /** @param request of `requestName` */
  find(request: string): CompleteAnswer | undefined;
  /** Keeps an answer, and drops the oldest ones to make room. */
  keep(request: string, answer: CompleteAnswer): void;
};

/**
 * The answers that a route delivered last, by request. A delivered bundle and its receipt never change, so the same
 * request, byte for byte, has the same answer without a look at the journal.
 */
export function createDeliveredCache(maxBytes = MAX_BYTES): DeliveredCache {
  const answers = new LRUCache<string, CompleteAnswer>({ maxSize: maxBytes, sizeCalculation: sizeOf });
  return {
    // Not `get`: an answer gives way by the time of its delivery, however often it is replayed.
    find: (request) => answers.peek(request),
    keep(request, answer) {
      if (!answers.has(request)) answers.set(request, answer);
    },
  };
}

function sizeOf({ headers }: CompleteAnswer, request: string): number {
  return request.length + Number(headers["content-length"]) + (headers["payment-response"]?.length ?? 0);
}

/**
 * A payment header, which holds no NUL, and a body: requests of one name are one request. It is not hashed: a hash would
 * cost as much as everything else that a replay does here.
 */
export function requestName(paymentHeader: string, body: Uint8Array): string {
  return `${paymentHeader}\0${Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("latin1")}`;
}
