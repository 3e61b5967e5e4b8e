import { encodeNote, paymentCommitment } from "@attestd/proof/attestor";
import type { SourceChains } from "../chains/chain.ts";
import { requireLevel, requireSize, sourceNamed, sourceOf } from "./evidence.ts";
import type { Attested, NoteContext, Product, TransactionEvidence } from "./product.ts";
import type { SubjectOf } from "./subject.ts";

/** The attestation of a transaction (ProofBundle). */
export function transactionProduct(chains: SourceChains): Product<SubjectOf<"transaction">, TransactionEvidence> {
  return {
    async evidence({ chain, id }, signal) {
      const reader = sourceNamed(chains, chain);
      const transaction = await reader.transaction(id, signal);
      requireLevel("The transaction", transaction.level, reader.required.transaction);
      const { source } = requireSize({ source: sourceOf(transaction) });
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
