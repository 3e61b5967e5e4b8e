import { LRUCache } from "lru-cache";
import type { Delivered } from "../calls/outcome.ts";

/** Bytes of requests, bundles and receipts that a route remembers. */
const MAX_BYTES = 16 * 1024 * 1024;

/**
 * The answers that a route delivered last, by request. A delivered bundle and its receipt never change, so the same
 * request, byte for byte, has the same answer without a look at the journal.
 */
export class DeliveredLately {
  readonly #answers: LRUCache<string, Delivered>;

  constructor(maxBytes = MAX_BYTES) {
    this.#answers = new LRUCache({ maxSize: maxBytes, sizeCalculation: sizeOf });
  }

  /** @param request of `requestName` */
  find(request: string): Delivered | undefined {
    // Not `get`: an answer gives way by the time of its delivery, however often it is replayed.
    return this.#answers.peek(request);
  }

  /** Keeps an answer, and drops the oldest ones to make room. */
  keep(request: string, answer: Delivered): void {
    if (!this.#answers.has(request)) this.#answers.set(request, answer);
  }
}

function sizeOf({ body, receipt }: Delivered, request: string): number {
  return request.length + body.length + receipt.length;
}

/**
 * A payment header, which holds no NUL, and a body: requests of one name are one request. It is not hashed: a hash would
 * cost as much as everything else that a replay does here.
 */
export function requestName(paymentHeader: string, body: Uint8Array): string {
  return `${paymentHeader}\0${Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("latin1")}`;
}
