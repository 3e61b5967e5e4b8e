import type { Delivered } from "../calls/outcome.ts";

/** Bytes of requests, bundles and receipts that a route remembers. */
const MOST_BYTES = 16 * 1024 * 1024;

/**
 * What a route has delivered lately, by the request that it was delivered for. A delivered bundle and its receipt never
 * change, so that the same request, byte for byte, has the same answer without a look at the journal.
 */
export class DeliveredLately {
  readonly #answers = new Map<string, Delivered>();
  readonly #most: number;
  #size = 0;

  constructor(most = MOST_BYTES) {
    this.#most = most;
  }

  /** @param request of `requestName` */
  find(request: string): Delivered | undefined {
    return this.#answers.get(request);
  }

  /** Keeps an answer, and lets go of the oldest ones for it. */
  keep(request: string, answer: Delivered): void {
    if (this.#answers.has(request)) return;
    this.#answers.set(request, answer);
    this.#size += sizeOf(request, answer);
    for (const [oldest, kept] of this.#answers) {
      if (this.#size <= this.#most) return;
      this.#answers.delete(oldest);
      this.#size -= sizeOf(oldest, kept);
    }
  }
}

function sizeOf(request: string, { body, receipt }: Delivered): number {
  return request.length + body.length + receipt.length;
}

/**
 * A payment header, which holds no NUL, and a body: requests of one name are one request. As it is and not hashed, which
 * would cost as much as all else that is done for a replay here.
 */
export function requestName(paymentHeader: string, body: Uint8Array): string {
  return `${paymentHeader}\0${Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("latin1")}`;
}
