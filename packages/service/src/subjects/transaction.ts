import { createHash } from "node:crypto";
import { toBase64 } from "@attestd/proof/encoding";
import { encodeNote, paymentCommitment } from "@attestd/proof/note";
import type { ChainName, ConfirmationLevel, SourceChain } from "../chains/chain.ts";
import { Problem } from "../problems.ts";
import type { Attested, NoteContext, Product } from "./product.ts";
import type { Subject } from "./subject.ts";

/** A transaction, as it was fetched. */
export type TransactionEvidence = {
  kind: "transaction";
  chain: ChainName;
  caip2: string;
  level: ConfirmationLevel;
  source: { chain: ChainName; txnId: string; hashSha256: string; txnBytesBase64: string };
};

/** No bundle may be larger than what the verify routes take; the rest of a bundle is below 16 KiB. */
const MOST_SOURCE_BYTES = Math.floor(((2 * 1024 * 1024 - 16 * 1024) * 3) / 4);

const DEPTH: Record<ConfirmationLevel, number> = { included: 0, safe: 1, finalized: 2 };

/** Seconds until a transaction that is in a block may have reached a level, on Base; Algorand is final at once. */
const WAIT_SECONDS: Record<ConfirmationLevel, number> = { included: 2, safe: 60, finalized: 300 };

/**
 * The attestation of a transaction (ProofBundle).
 *
 * @param chains the source chains by name
 * @param required the level below which a chain's transactions are refused as not final
 */
export function transactionProduct(
  chains: ReadonlyMap<ChainName, SourceChain>,
  required: Readonly<Record<ChainName, ConfirmationLevel>>,
): Product<Extract<Subject, { kind: "transaction" }>, TransactionEvidence> {
  return {
    async evidence({ chain, id }, signal) {
      const reader = chains.get(chain);
      if (!reader) throw new Problem("source_wrong_chain", `${chain} is not configured as a source here.`);
      const source = await reader.transaction(id, signal);
      if (DEPTH[source.level] < DEPTH[required[chain]]) {
        throw new Problem("source_not_final", `The transaction is ${source.level}; ${required[chain]} is needed.`, {
          retryAfter: WAIT_SECONDS[required[chain]],
        });
      }
      if (source.bytes.length > MOST_SOURCE_BYTES)
        throw new Problem("source_too_large", `The transaction has ${source.bytes.length} bytes.`);
      return {
        kind: "transaction",
        chain,
        caip2: source.caip2,
        level: source.level,
        source: {
          chain,
          txnId: source.txnId,
          hashSha256: createHash("sha256").update(source.bytes).digest("hex"),
          txnBytesBase64: toBase64(source.bytes),
        },
      };
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
