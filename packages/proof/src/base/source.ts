import { ALGORAND_MAINNET, BASE_MAINNET, evmCaip2 } from "../caip2.ts";
import type { ChainFormat } from "../chains.ts";
import { baseTxHash, decodeBaseTransaction, isBaseTxHash, transactionChainId } from "./transaction.ts";

/** Base as a source chain. */
export const baseFormat: ChainFormat = {
  isTransactionId: isBaseTxHash,
  levels: ["included", "safe", "finalized"],

  transactionId: (bytes, { keccak256 }) => baseTxHash(bytes, keccak256),

  transactionChain(bytes, ledger) {
    const chainId = transactionChainId(decodeBaseTransaction(bytes));
    // A sandbox plays recordings of other OP Stack chains as Base; on the real ledger a foreign chain id is a lie.
    return chainId === undefined || ledger !== ALGORAND_MAINNET ? BASE_MAINNET : evmCaip2(chainId);
  },
};
