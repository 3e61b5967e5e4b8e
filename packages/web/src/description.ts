import { type Bundle, type ChainFormat, chainOf } from "@attestd/proof";
import { fromBase64 } from "@attestd/proof/encoding";
import { describeAlgorandTransaction } from "./algorand-transaction.ts";
import { describeBaseTransaction } from "./base-transaction.ts";
import type { Description } from "./display.ts";

export type Subject = ReturnType<typeof subjectOf>;

/** What a bundle attests, for people. Bytes that are not a transaction are not an error here: the checks report them. */
export function subjectOf(bundle: Bundle) {
  const chain = chainOf(bundle);
  return {
    chain,
    transaction:
      "source" in bundle
        ? { id: bundle.source.txnId, ...describeTransaction(chain, bundle.source.txnBytesBase64) }
        : undefined,
    block: "block" in bundle ? { height: bundle.block.height, hash: bundle.block.blockHash } : undefined,
    /** Hex SHA-256 that the note commits to: of the block's header if there is a block, else of the transaction. */
    fingerprint: "block" in bundle ? bundle.block.hashSha256 : bundle.source.hashSha256,
  };
}

/** What was attested in one line: `USDC transfer on Base, 25.00 USDC`. */
export function subjectTitle({ chain, transaction, block }: Subject): string {
  if (transaction === undefined) return `Block ${block?.height} of ${chain.label}`;
  const { action, amount } = transaction;
  return `${action} on ${chain.label}${amount === undefined ? "" : `, ${amount}`}`;
}

function describeTransaction({ name }: ChainFormat, bytesBase64: string): Description {
  try {
    const bytes = fromBase64(bytesBase64);
    return name === "algorand" ? describeAlgorandTransaction(bytes) : describeBaseTransaction(bytes);
  } catch {
    return { action: "Transaction", fields: [] };
  }
}
