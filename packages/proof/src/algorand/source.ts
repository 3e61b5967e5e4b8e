import { algorandCaip2 } from "../caip2.ts";
import type { ChainFormat } from "../chains.ts";
import { DecodeError } from "../encoding.ts";
import { decodeMsgpackMap, getBytes } from "./msgpack.ts";
import { isAlgorandTxId, isCanonicalTransaction, txid } from "./transaction.ts";

/** Algorand as a source chain. */
export const algorandFormat: ChainFormat = {
  isTransactionId: isAlgorandTxId,
  levels: ["finalized"],

  transactionId(bytes) {
    if (!isCanonicalTransaction(bytes)) throw new DecodeError("not the canonical msgpack of a transaction");
    return txid(bytes);
  },

  transactionChain(bytes, ledger) {
    const genesisHash = getBytes(decodeMsgpackMap(bytes), "gh", 32);
    return genesisHash === undefined ? ledger : algorandCaip2(genesisHash);
  },
};
