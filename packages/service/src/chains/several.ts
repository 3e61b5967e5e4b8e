import { MAX_BATCH_ITEMS } from "@attestd/proof";
import { untilSettled } from "../lib/clock.ts";
import { ServiceError } from "../lib/errors.ts";
import { isSourceError, type SourceError, type SourceTransaction, type SourceTransactions } from "./chain.ts";

/** Bytes that the transactions of a batch may have in all, and bytes per item. Storage is priced per item. */
const SOURCE_BYTES = 256 * 1024;
const SOURCE_BYTES_OF_ITEM = 4 * 1024;
/** Bytes that the sources of any request may have in all. */
export const MAX_SOURCE_BYTES = maxSourceBytes(MAX_BATCH_ITEMS);
/** How many transactions an error names. */
const MAX_NAMED = 10;

/** Returns the bytes that a batch of this size may have in all. Larger transactions are sold singly. */
export function maxSourceBytes(items: number): number {
  return SOURCE_BYTES + items * SOURCE_BYTES_OF_ITEM;
}

/** Collects the results for several transactions, within a limit of bytes. */
export class Gathered {
  readonly all: SourceTransactions = new Map();
  #bytes = 0;

  /** @throws sources_too_large when the transactions have more than `MAX_SOURCE_BYTES` in all */
  add(txnId: string, found: SourceTransaction | SourceError): void {
    this.all.set(txnId, found);
    if (!("bytes" in found)) return;
    this.#bytes += found.bytes.length;
    if (this.#bytes > MAX_SOURCE_BYTES)
      throw tooLarge(
        [...this.all.values()].filter((one) => "bytes" in one),
        MAX_SOURCE_BYTES,
      );
  }
}

/**
 * Makes the error for transactions that together have too many bytes.
 * @param transactions whose bytes are known
 * @param most bytes that they may have
 */
export function tooLarge(transactions: Iterable<SourceTransaction>, most: number): ServiceError<"sources_too_large"> {
  const largest = [...transactions].sort((a, b) => b.bytes.length - a.bytes.length).slice(0, MAX_NAMED);
  const named = largest.map(({ txnId, bytes }) => `${txnId} (${bytes.length})`).join(", ");
  const message = `the transactions have more than ${most} bytes in all; those with the most: ${named}`;
  return new ServiceError("sources_too_large", message, { details: { txnIds: largest.map(({ txnId }) => txnId) } });
}

/** Returns what a look-up found, or the error that the source cannot be attested. @throws any other error */
export function orSourceError<T>(found: Promise<T>): Promise<T | SourceError> {
  return found.catch((error: unknown) => {
    if (isSourceError(error)) return error;
    throw error;
  });
}

/**
 * Runs work for every item, a limited number at a time. The first failure aborts the others.
 * @throws the first error; the signal's reason when the signal comes first
 */
export async function forEach<T>(
  items: Iterable<T>,
  atOnce: number,
  work: (item: T, signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const rest = items[Symbol.iterator]();
  await untilSettled(signal, (ends) => {
    const worker = async () => {
      for (let next = rest.next(); !next.done; next = rest.next()) {
        ends.throwIfAborted();
        await work(next.value, ends);
      }
    };
    return Promise.all(Array.from({ length: atOnce }, worker));
  });
}
