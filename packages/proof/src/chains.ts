import { algorandFormat } from "./algorand/source.ts";
import type { ReceiptStatus } from "./base/receipt.ts";
import { baseFormat } from "./base/source.ts";
import type { Inclusion } from "./bundle-types.ts";
import type { Level } from "./note.ts";
import type { Finding } from "./report.ts";
import type { Crypto } from "./signature.ts";

/** A chain whose transactions and blocks are attested. */
export type SourceChain = "algorand" | "base";

/**
 * What a verifier must know of a source chain. A function that takes bytes throws DecodeError where they are not what it
 * asks for.
 */
export interface ChainFormat<I extends Inclusion = Inclusion> {
  /** Whether the text is a transaction id in its one spelling. No text is an id of two chains. */
  isTransactionId(text: string): boolean;
  /** Whether the text is a block hash in its one spelling. */
  isBlockHash(text: string): boolean;
  /** The levels of confirmation that a note may state. */
  levels: readonly Level[];
  /** What the bytes of a transaction say of themselves. */
  transaction(bytes: Uint8Array, ledger: string, crypto: Crypto): { txnId: string; caip2: string };
  /** What the bytes of a header say of themselves. */
  header(bytes: Uint8Array, ledger: string, crypto: Crypto): { blockHash: string; height: number; caip2: string };
  /** Reads a bundle's `inclusion`. @throws FormatError */
  readInclusion(value: unknown, pointer: string): I;
  /** What is wrong with the way from a transaction to a header: nothing, where it leads there. */
  checkInclusion(inclusion: I, transaction: Uint8Array, header: Uint8Array, crypto: Crypto): Finding[];
  /** What became of the transaction by its receipt, in an inclusion in which `checkInclusion` found nothing wrong. */
  receiptStatus?(inclusion: I, transaction: Uint8Array): ReceiptStatus | undefined;
}

export const CHAINS: Readonly<Record<SourceChain, ChainFormat>> = { algorand: algorandFormat, base: baseFormat };

/** The chain to which an id belongs by its form; undefined when it is no id. */
export function inferChain(transactionId: string): SourceChain | undefined {
  return (Object.keys(CHAINS) as SourceChain[]).find((chain) => CHAINS[chain].isTransactionId(transactionId));
}
