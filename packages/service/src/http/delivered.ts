import { createHash } from "node:crypto";
import type { Delivered } from "../calls/outcome.ts";

/** Bytes of bundles and receipts that a route remembers. */
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
    this.#size += sizeOf(answer);
    for (const [oldest, kept] of this.#answers) {
      if (this.#size <= this.#most) return;
      this.#answers.delete(oldest);
      this.#size -= sizeOf(kept);
    }
  }
}

function sizeOf({ body, receipt }: Delivered): number {
  return body.length + receipt.length;
}

/** SHA-256 of a payment header, which holds no NUL, and a body: requests of one name are one request. */
export function requestName(paymentHeader: string, body: Uint8Array): string {
  return createHash("sha256").update(paymentHeader).update("\0").update(body).digest("base64url");
}
