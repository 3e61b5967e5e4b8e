import { ServiceError } from "../errors.ts";
import { isSourceError, type SourceError, type SourceTransaction, type SourceTransactions } from "./chain.ts";

/** Bytes that the sources of one request may have in all. */
export const MAX_SOURCE_BYTES = 8 * 1024 * 1024;
/** How many transactions an error names. */
const MAX_NAMED = 10;

/** Gathers what is known of several transactions, within a bound of bytes. */
export class Gathered {
  readonly all: SourceTransactions = new Map();
  #bytes = 0;

  /** @throws sources_too_large when the transactions have more than `MAX_SOURCE_BYTES` in all */
  add(txnId: string, found: SourceTransaction | SourceError): void {
    this.all.set(txnId, found);
    if (!("bytes" in found)) return;
    this.#bytes += found.bytes.length;
    if (this.#bytes > MAX_SOURCE_BYTES) throw tooLarge([...this.all.values()].filter((one) => "bytes" in one));
  }
}

/**
 * The error for transactions that have too many bytes together.
 *
 * @param transactions those of which the bytes are known
 */
export function tooLarge(transactions: Iterable<SourceTransaction>): ServiceError<"sources_too_large"> {
  const largest = [...transactions].sort((a, b) => b.bytes.length - a.bytes.length).slice(0, MAX_NAMED);
  const named = largest.map(({ txnId, bytes }) => `${txnId} (${bytes.length})`).join(", ");
  const message = `the transactions have more than ${MAX_SOURCE_BYTES} bytes in all; those with the most: ${named}`;
  return new ServiceError("sources_too_large", message, { details: { txnIds: largest.map(({ txnId }) => txnId) } });
}

/** What a look-up found, or what the chain shows about a source that cannot be attested. @throws any other error */
export function orSourceError<T>(found: Promise<T>): Promise<T | SourceError> {
  return found.catch((error: unknown) => {
    if (isSourceError(error)) return error;
    throw error;
  });
}

/**
 * Runs work for every item, so many at a time. The first failure ends the others.
 *
 * @throws the first error; the signal's reason when the signal comes first
 */
export async function forEach<T>(
  items: Iterable<T>,
  atOnce: number,
  work: (item: T, signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const failed = new AbortController();
  const ends = AbortSignal.any([signal, failed.signal]);
  const rest = items[Symbol.iterator]();
  const worker = async () => {
    for (let next = rest.next(); !next.done; next = rest.next()) {
      ends.throwIfAborted();
      await work(next.value, ends);
    }
  };
  try {
    await Promise.all(Array.from({ length: atOnce }, worker));
  } finally {
    failed.abort();
  }
}
