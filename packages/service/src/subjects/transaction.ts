import { encodeNote, paymentCommitment } from "@attestd/proof/attestor";
import type { ChainName, SourceChain } from "../chains/chain.ts";
import { type RequiredLevels, readerOf, requireLevel, requireSize, sourceOf } from "./evidence.ts";
import type { Attested, NoteContext, Product, TransactionEvidence } from "./product.ts";
import type { SubjectOf } from "./subject.ts";

/**
 * The attestation of a transaction (ProofBundle).
 *
 * @param chains the source chains by name
 * @param required the level below which a chain's transactions are refused as not final
 */
export function transactionProduct(
  chains: ReadonlyMap<ChainName, Pick<SourceChain, "transaction">>,
  required: RequiredLevels,
): Product<SubjectOf<"transaction">, TransactionEvidence> {
  return {
    async evidence({ chain, id }, signal) {
      const transaction = await readerOf(chains, chain).transaction(id, signal);
      requireLevel("The transaction", transaction.level, required[chain]);
      const source = sourceOf(transaction);
      requireSize({ source });
      return { kind: "transaction", chain, caip2: transaction.caip2, level: transaction.level, source };
    },

    note({ caip2, level, source }, { keySha256, ledger, paymentKey }: NoteContext) {
      return encodeNote({
        a: keySha256,
        c: caip2,
        g: ledger,
        h: source.hashSha256,
        l: level,
        p: paymentCommitment(paymentKey),
        t: source.txnId,
      });
    },

    bundle({ source }, { attest, attestor }: Attested) {
      return { version: 1, network: "algorand-mainnet", source, attest, attestor };
    },
  };
}
