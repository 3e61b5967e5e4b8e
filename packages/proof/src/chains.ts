import { algorandFormat } from "./algorand/source.ts";
import { baseFormat } from "./base/source.ts";
import type { Level } from "./note.ts";
import type { Crypto } from "./signature.ts";

/** A chain whose transactions and blocks are attested. */
export type SourceChain = "algorand" | "base";

/**
 * What a verifier must know of a source chain. Functions that take bytes throw DecodeError when the bytes are not what
 * they should be.
 */
export interface ChainFormat {
  /** Whether the text is a transaction id in its one spelling. No text is an id of two chains. */
  isTransactionId(text: string): boolean;
  /** The levels of confirmation that a note may state. */
  levels: readonly Level[];
  /** The id that the bytes themselves have. */
  transactionId(bytes: Uint8Array, crypto: Crypto): string;
  /**
   * CAIP-2 of the chain that the transaction itself names, else of the chain that an attestor on this ledger reads.
   * @param ledger CAIP-2 of the ledger of record
   */
  transactionChain(bytes: Uint8Array, ledger: string): string;
}

export const CHAINS: Readonly<Record<SourceChain, ChainFormat>> = { algorand: algorandFormat, base: baseFormat };

/** The chain to which an id belongs by its form; undefined when it is no id. */
export function inferChain(transactionId: string): SourceChain | undefined {
  return (Object.keys(CHAINS) as SourceChain[]).find((chain) => CHAINS[chain].isTransactionId(transactionId));
}
